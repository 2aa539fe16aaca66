import { apiVersionOf } from '../../kube/resource.ts';
import { assert } from '../../runtime/assert.ts';
import type { ServedKind } from './served-kind.ts';

/**
 * The kinds that a server serves, found by their names in URLs and in objects. Most are there for good; those that somebody has
 * defined come and go, and one that does costs the same however many there are.
 */
export class KindCatalog {
  readonly #builtIn: readonly ServedKind[];
  /** By the name of what defines them. */
  readonly #defined = new Map<string, readonly ServedKind[]>();
  readonly #byPath = new Map<string, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #leaveTakers = new Map<ServedKind, Set<() => void>>();
  readonly #gone = new WeakSet<ServedKind>();
  /** Undefined after a change, until somebody asks. */
  #all: readonly ServedKind[] | undefined;
  #edition = 1;

  constructor(kinds: readonly ServedKind[]) {
    this.#builtIn = kinds;
    for (const kind of kinds) this.#add(kind);
  }

  get all(): readonly ServedKind[] {
    this.#all ??= [...this.#builtIn, ...[...this.#defined.values()].flat()];
    return this.#all;
  }

  /** Another number whenever the kinds have changed: what is made of them can be kept under it. */
  get version(): number {
    return this.#edition;
  }

  /** `apps/v1`, `statefulsets`. */
  byPlural(apiVersion: string, plural: string): ServedKind | undefined {
    return this.#byPath.get(`${apiVersion}/${plural}`);
  }

  /** `apps/v1`, `StatefulSet`. */
  byKind(apiVersion: string, kind: string): ServedKind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** The one kind of a name in a group, whatever version is served. */
  inGroup(group: string, kind: string): ServedKind | undefined {
    return this.all.find((candidate) => candidate.group === group && candidate.kind === kind);
  }

  /** Whether the server has such objects of its own, in any version. */
  isBuiltIn(group: string, plural: string): boolean {
    return this.#builtIn.some((kind) => kind.group === group && kind.plural === plural);
  }

  /**
   * Puts the kinds of some definitions, by their names, in the place of those that they had so far. Whoever uses one that is not among
   * them is told when all is done.
   */
  replaceDefined(changes: ReadonlyMap<string, readonly ServedKind[]>): void {
    const kept = new Set([...changes.values()].flat());
    const gone = [...changes.keys()].flatMap((name) => this.#defined.get(name) ?? []);
    // What goes first: another one may get its name.
    for (const kind of gone) this.#remove(kind);
    for (const [name, kinds] of changes) {
      if (kinds.length === 0) this.#defined.delete(name);
      else this.#defined.set(name, kinds);
      for (const kind of kinds) this.#add(kind);
    }
    this.#all = undefined;
    this.#edition += 1;
    this.#takeLeave(gone.filter((kind) => !kept.has(kind)));
  }

  /** Whether it was served once, and is no longer, or not as it was: who found it earlier may still hold it. */
  isRemoved(kind: ServedKind): boolean {
    return this.#gone.has(kind);
  }

  /** Calls back when a kind that was defined is served no longer. Returns how to stop that. */
  onRemoved(kind: ServedKind, listener: () => void): () => void {
    const listeners = this.#leaveTakers.get(kind) ?? new Set();
    this.#leaveTakers.set(kind, listeners);
    // A function of its own, as the same one may be given twice.
    const told = () => listener();
    listeners.add(told);
    return () => {
      if (listeners.delete(told) && listeners.size === 0) this.#leaveTakers.delete(kind);
    };
  }

  #takeLeave(gone: readonly ServedKind[]): void {
    for (const kind of gone) this.#gone.add(kind);
    for (const kind of gone) {
      const listeners = this.#leaveTakers.get(kind) ?? [];
      this.#leaveTakers.delete(kind);
      for (const listener of [...listeners]) listener();
    }
  }

  #add(kind: ServedKind): void {
    const path = pathOf(kind);
    assert(!this.#byPath.has(path), `${path} is described twice`);
    this.#byPath.set(path, kind);
    // A definition may call its kind as one of the server's own is called, and does not become that.
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
