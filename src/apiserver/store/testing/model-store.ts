import type { ListRange, StoreEntry } from '../store.ts';

/** The obvious store: a full copy of the state after every write. */
export class ModelStore {
  readonly #states = new Map<number, ReadonlyMap<string, StoreEntry>>();
  #newest: ReadonlyMap<string, StoreEntry> = new Map();

  constructor(revision: number) {
    this.#states.set(revision, this.#newest);
  }

  get revisions(): number[] {
    return [...this.#states.keys()];
  }

  put(bucket: string, entry: StoreEntry): void {
    this.#record(entry.revision, new Map(this.#newest).set(`${bucket}\0${entry.key}`, entry));
  }

  remove(bucket: string, key: string, revision: number): void {
    const state = new Map(this.#newest);
    state.delete(`${bucket}\0${key}`);
    this.#record(revision, state);
  }

  listAt(bucket: string, revision: number, { prefix = '', after, limit }: ListRange = {}): StoreEntry[] {
    const state = this.#states.get(revision) ?? new Map<string, StoreEntry>();
    const ofBucket = [...state].filter(([name]) => name.startsWith(`${bucket}\0`)).map(([, entry]) => entry);
    const sorted = ofBucket.sort((a, b) => (a.key < b.key ? -1 : 1));
    const found = sorted.filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after));
    return found.slice(0, limit ?? found.length);
  }

  #record(revision: number, state: ReadonlyMap<string, StoreEntry>): void {
    this.#newest = state;
    this.#states.set(revision, state);
  }
}
