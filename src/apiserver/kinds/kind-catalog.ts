import { apiVersionOf } from '../../kube/resource.ts';
import { assert } from '../../runtime/assert.ts';
import type { ServedKind } from './served-kind.ts';

/**
 * The kinds that a server serves, by their names in URLs and in objects. Built-in kinds are fixed;
 * CustomResourceDefinitions add and remove kinds at run time. The cost of a change does not depend on the number of
 * kinds.
 */
export class KindCatalog {
  readonly #builtIn: readonly ServedKind[];
  /** Custom kinds, by the name of their definition. */
  readonly #defined = new Map<string, readonly ServedKind[]>();
  readonly #byPath = new Map<string, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #removalListeners = new Map<ServedKind, Set<() => void>>();
  readonly #removed = new WeakSet<ServedKind>();
  /** Undefined after a change, until the next read. */
  #all: readonly ServedKind[] | undefined;
  #version = 1;

  constructor(kinds: readonly ServedKind[]) {
    this.#builtIn = kinds;
    for (const kind of kinds) this.#add(kind);
  }

  get all(): readonly ServedKind[] {
    this.#all ??= [...this.#builtIn, ...[...this.#defined.values()].flat()];
    return this.#all;
  }

  /** Increases with every change of the kinds, so callers can cache what they derive from them. */
  get version(): number {
    return this.#version;
  }

  /** For example `apps/v1` and `statefulsets`. */
  byPlural(apiVersion: string, plural: string): ServedKind | undefined {
    return this.#byPath.get(`${apiVersion}/${plural}`);
  }

  /** For example `apps/v1` and `StatefulSet`. */
  byKind(apiVersion: string, kind: string): ServedKind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** A kind by its name in a group, in any served version. */
  inGroup(group: string, kind: string): ServedKind | undefined {
    return this.all.find((candidate) => candidate.group === group && candidate.kind === kind);
  }

  /** Whether the server itself has this resource, in any version. */
  isBuiltIn(group: string, plural: string): boolean {
    return this.#builtIn.some((kind) => kind.group === group && kind.plural === plural);
  }

  /**
   * Replaces the kinds of some definitions, by the names of the definitions. Notifies the listeners of removed kinds
   * after all changes are done.
   */
  replaceDefined(changes: ReadonlyMap<string, readonly ServedKind[]>): void {
    const kept = new Set([...changes.values()].flat());
    const removed = [...changes.keys()].flatMap((name) => this.#defined.get(name) ?? []);
    // Remove first: another kind may take over the name.
    for (const kind of removed) this.#remove(kind);
    for (const [name, kinds] of changes) {
      if (kinds.length === 0) this.#defined.delete(name);
      else this.#defined.set(name, kinds);
      for (const kind of kinds) this.#add(kind);
    }
    this.#all = undefined;
    this.#version += 1;
    this.#notifyRemoved(removed.filter((kind) => !kept.has(kind)));
  }

  /** Whether the kind was served once and has been removed or replaced: callers may still hold it. */
  isRemoved(kind: ServedKind): boolean {
    return this.#removed.has(kind);
  }

  /** Calls `listener` when a defined kind is removed or replaced. Returns a function that removes the listener. */
  onRemoved(kind: ServedKind, listener: () => void): () => void {
    const listeners = this.#removalListeners.get(kind) ?? new Set();
    this.#removalListeners.set(kind, listeners);
    // Wrapped, because a caller may register the same function twice.
    const wrapped = () => listener();
    listeners.add(wrapped);
    return () => {
      if (listeners.delete(wrapped) && listeners.size === 0) this.#removalListeners.delete(kind);
    };
  }

  #notifyRemoved(removed: readonly ServedKind[]): void {
    for (const kind of removed) this.#removed.add(kind);
    for (const kind of removed) {
      const listeners = this.#removalListeners.get(kind) ?? [];
      this.#removalListeners.delete(kind);
      for (const listener of [...listeners]) listener();
    }
  }

  #add(kind: ServedKind): void {
    const path = pathOf(kind);
    assert(!this.#byPath.has(path), `${path} is defined twice`);
    this.#byPath.set(path, kind);
    // A definition may use the kind name of a built-in kind, but does not replace it.
    if (!this.#byKind.has(nameOf(kind))) this.#byKind.set(nameOf(kind), kind);
  }

  #remove(kind: ServedKind): void {
    this.#byPath.delete(pathOf(kind));
    if (this.#byKind.get(nameOf(kind)) === kind) this.#byKind.delete(nameOf(kind));
  }
}

function pathOf(kind: ServedKind): string {
  return `${apiVersionOf(kind)}/${kind.plural}`;
}

function nameOf(kind: ServedKind): string {
  return `${apiVersionOf(kind)}/${kind.kind}`;
}
