import type { Entry, ListRange } from '../store.ts';

/** The obvious store: a whole copy of everything after every write. */
export class ModelStore {
  readonly #states = new Map<number, ReadonlyMap<string, Entry>>();
  #newest: ReadonlyMap<string, Entry> = new Map();

  constructor(revision: number) {
    this.#states.set(revision, this.#newest);
  }

  get revisions(): number[] {
    return [...this.#states.keys()];
  }

  put(bucket: string, entry: Entry): void {
    this.#record(entry.revision, new Map(this.#newest).set(`${bucket}\0${entry.key}`, entry));
  }

  remove(bucket: string, key: string, revision: number): void {
    const state = new Map(this.#newest);
    state.delete(`${bucket}\0${key}`);
    this.#record(revision, state);
  }

  listAt(bucket: string, revision: number, { prefix = '', after, limit }: ListRange = {}): Entry[] {
    const state = this.#states.get(revision) ?? new Map<string, Entry>();
    const ofBucket = [...state].filter(([name]) => name.startsWith(`${bucket}\0`)).map(([, entry]) => entry);
    const sorted = ofBucket.sort((a, b) => (a.key < b.key ? -1 : 1));
    const found = sorted.filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after));
    return found.slice(0, limit ?? found.length);
  }

  #record(revision: number, state: ReadonlyMap<string, Entry>): void {
    this.#newest = state;
    this.#states.set(revision, state);
  }
}
