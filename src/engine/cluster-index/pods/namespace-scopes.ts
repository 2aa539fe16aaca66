import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { NamespaceRecord } from '../../records/namespace-record.ts';
import { requirementsKey } from '../../records/node-matcher.ts';

/** A set of namespaces. */
export interface NamespaceScope {
  /** Equal keys, equal sets. */
  readonly key: string;
  /** Undefined: all that there are. */
  readonly names: ReadonlySet<string> | undefined;
}

const everyNamespace: NamespaceScope = { key: '*', names: undefined };

/** What a term of pod affinity says of namespaces. */
export interface NamespaceChoice {
  readonly names: readonly string[];
  /** Selects more of them by their labels; undefined selects none. */
  readonly namespaceSelector: CompiledLabelSelector | undefined;
}

export function isInScope({ names }: NamespaceScope, namespace: string): boolean {
  return names === undefined || names.has(namespace);
}

/** Those that are in both. */
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

/** Past this we start over. */
const scopesMax = 1000;

/** Finds the namespaces that terms select; each choice is worked out once for as long as no namespace changes. */
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
