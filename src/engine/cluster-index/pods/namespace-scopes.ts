import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { NamespaceRecord } from '../../records/namespace-record.ts';
import { requirementsKey } from '../../records/node-matcher.ts';

/** A set of namespaces. */
export interface NamespaceScope {
  /** Scopes with equal keys are equal. */
  readonly key: string;
  /** Undefined for all namespaces. */
  readonly names: ReadonlySet<string> | undefined;
}

const everyNamespace: NamespaceScope = { key: '*', names: undefined };

/** The namespaces that a pod affinity term names or selects. */
export interface NamespaceChoice {
  readonly names: readonly string[];
  /** Selects further namespaces by label; undefined selects none. */
  readonly namespaceSelector: CompiledLabelSelector | undefined;
}

export function isInScope({ names }: NamespaceScope, namespace: string): boolean {
  return names === undefined || names.has(namespace);
}

export function intersectScopes(a: NamespaceScope, b: NamespaceScope): NamespaceScope {
  if (a.names === undefined || a.key === b.key) return b;
  if (b.names === undefined) return a;
  const other = b.names;
  return scopeOf([...a.names].filter((name) => other.has(name)));
}

export function scopeOf(names: Iterable<string>): NamespaceScope {
  const sorted = [...new Set(names)].sort();
  return { key: JSON.stringify(sorted), names: new Set(sorted) };
}

/** The cache is cleared when it is full. */
const scopesMax = 1000;

/** Resolves the namespaces that terms select. Results are cached until a namespace changes. */
export class NamespaceScopes {
  readonly #namespaces: ReadonlyMap<string, NamespaceRecord>;
  readonly #byChoice = new Map<string, NamespaceScope>();

  constructor(namespaces: ReadonlyMap<string, NamespaceRecord>) {
    this.#namespaces = namespaces;
  }

  of(choice: NamespaceChoice): NamespaceScope {
    const { names, namespaceSelector } = choice;
    if (namespaceSelector?.requirements.length === 0) return everyNamespace;
    const selected = namespaceSelector === undefined ? '' : requirementsKey(namespaceSelector.requirements);
    const key = `${JSON.stringify(names)} ${selected}`;
    let scope = this.#byChoice.get(key);
    if (scope === undefined) {
      scope = scopeOf([...names, ...this.#selectedBy(namespaceSelector)]);
      if (this.#byChoice.size >= scopesMax) this.#byChoice.clear();
      this.#byChoice.set(key, scope);
    }
    return scope;
  }

  labelsOf(namespace: string): Readonly<Record<string, string>> {
    return this.#namespaces.get(namespace)?.labels ?? noLabels;
  }

  namespaceChanged(): void {
    this.#byChoice.clear();
  }

  *#selectedBy(selector: CompiledLabelSelector | undefined): Iterable<string> {
    if (selector === undefined) return;
    for (const { key, labels } of this.#namespaces.values()) if (matchesLabels(selector, labels)) yield key;
  }
}

const noLabels: Readonly<Record<string, string>> = {};
