import type { Projected } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';

/** The values under which an object is found; an empty result leaves it out of the index. Must not throw. */
export type IndexFunction<T extends KubeObject> = (object: Projected<T>) => readonly string[];

export type IndexFunctions<T extends KubeObject> = Readonly<Record<string, IndexFunction<T>>>;

/**
 * Objects by key, and keys by index. During a re-list each object that is found is marked; `sweep` then returns those that were not
 * found again.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: readonly Index<T>[];
  #round = 0;

  constructor(functions: IndexFunctions<T>) {
    this.#indexes = Object.entries(functions).map(([name, valuesOf]) => new Index(name, valuesOf));
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Projected<T> | undefined {
    return this.#entries.get(key)?.object;
  }

  *values(): Generator<Projected<T>> {
    for (const { object } of this.#entries.values()) yield object;
  }

  /** Keys of the objects that have `value` in the index; empty where none has. */
  keysBy(index: string, value: string): ReadonlySet<string> {
    const found = this.#indexes.find(({ name }) => name === index);
    if (found === undefined) throw new RangeError(`there is no index named ${index}`);
    return found.keys(value);
  }

  put(key: string, object: Projected<T>): void {
    const entry = this.#entries.get(key);
    for (const index of this.#indexes) index.move(key, entry?.object, object);
    if (entry === undefined) {
      this.#entries.set(key, { object, round: this.#round });
      return;
    }
    entry.object = object;
    entry.round = this.#round;
  }

  /** The object still exists, unchanged. */
  mark(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.round = this.#round;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    for (const index of this.#indexes) index.move(key, entry.object, undefined);
    this.#entries.delete(key);
  }

  beginRound(): void {
    this.#round += 1;
  }

  /** Keys that have not been put or marked since the round started. */
  unmarked(): string[] {
    const keys: string[] = [];
    for (const [key, { round }] of this.#entries) if (round !== this.#round) keys.push(key);
    return keys;
  }
}

interface Entry<T extends KubeObject> {
  object: Projected<T>;
  round: number;
}

const noKeys: ReadonlySet<string> = new Set();

class Index<T extends KubeObject> {
  readonly name: string;
  readonly #valuesOf: IndexFunction<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(name: string, valuesOf: IndexFunction<T>) {
    this.name = name;
    this.#valuesOf = valuesOf;
  }

  keys(value: string): ReadonlySet<string> {
    return this.#keys.get(value) ?? noKeys;
  }

  move(key: string, from: Projected<T> | undefined, to: Projected<T> | undefined): void {
    const oldValues = from === undefined ? [] : this.#valuesOf(from);
    const newValues = to === undefined ? [] : this.#valuesOf(to);
    for (const value of oldValues) if (!newValues.includes(value)) this.#remove(value, key);
    for (const value of newValues) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, new Set([key]));
    else keys.add(key);
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) return;
    keys.delete(key);
    if (keys.size === 0) this.#keys.delete(value);
  }
}
