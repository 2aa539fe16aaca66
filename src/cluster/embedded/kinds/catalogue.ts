import { assert } from '../../../runtime/assert.ts';
import { apiVersionOf } from '../../resource.ts';
import type { Kind } from './kind.ts';

/**
 * The kinds that a server serves, found by their names in URLs and in objects. Most are there for good; those that somebody has
 * defined come and go.
 */
export class KindCatalogue {
  readonly #builtIn: readonly Kind[];
  readonly #listeners = new Set<(gone: readonly Kind[]) => void>();
  readonly #gone = new WeakSet<Kind>();
  #all: readonly Kind[];
  #byPath = new Map<string, Kind>();
  #byKind = new Map<string, Kind>();
  #edition = 1;

  constructor(kinds: readonly Kind[]) {
    this.#builtIn = kinds;
    this.#all = kinds;
    this.#index();
  }

  get all(): readonly Kind[] {
    return this.#all;
  }

  /** Another number whenever the kinds have changed: what is made of them can be kept under it. */
  get edition(): number {
    return this.#edition;
  }

  /** `apps/v1`, `statefulsets`. */
  byPlural(apiVersion: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${apiVersion}/${plural}`);
  }

  /** `apps/v1`, `StatefulSet`. */
  byKind(apiVersion: string, kind: string): Kind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  /** The one kind of a name in a group, whatever version is served. */
  inGroup(group: string, kind: string): Kind | undefined {
    return this.#all.find((candidate) => candidate.group === group && candidate.kind === kind);
  }

  /** Puts these in the place of all kinds that were defined so far. Whoever uses one that is not among them is told. */
  define(kinds: readonly Kind[]): void {
    const kept = new Set(kinds);
    const gone = this.#all.filter((kind) => kind.definition !== undefined && !kept.has(kind));
    this.#all = [...this.#builtIn, ...kinds];
    this.#edition += 1;
    this.#index();
    for (const kind of gone) this.#gone.add(kind);
    for (const listener of this.#listeners) listener(gone);
  }

  /** Whether it was served once, and is no longer, or not as it was: who found it earlier may still hold it. */
  isGone(kind: Kind): boolean {
    return this.#gone.has(kind);
  }

  /** Calls back when kinds have changed, with those that are served no longer. Returns how to stop that. */
  onChange(listener: (gone: readonly Kind[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #index(): void {
    this.#byPath = new Map();
    this.#byKind = new Map();
    for (const kind of this.#all) {
      const path = `${apiVersionOf(kind)}/${kind.plural}`;
      assert(!this.#byPath.has(path), `${path} is described twice`);
      this.#byPath.set(path, kind);
      const name = `${apiVersionOf(kind)}/${kind.kind}`;
      // A definition may call its kind as one of the server's own is called, and does not become that.
      if (!this.#byKind.has(name)) this.#byKind.set(name, kind);
    }
  }
}
