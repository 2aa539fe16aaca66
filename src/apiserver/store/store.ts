/**
 * Where the embedded API server keeps its objects: buckets of keyed bytes under one revision counter, in the spirit of
 * etcd.
 *
 * 1. The newest state is in memory, and `get`, `list` and the two writes are synchronous: between reading an entry and
 *    replacing it nobody else runs, so a compare-and-swap needs no lock. Every write names the revision that it replaces
 *    all the same, and a mismatch is a bug of the caller that throws.
 * 2. A write is visible at once and durable later. Whoever tells the outside about a revision (answers a write, a read or a
 *    list) first awaits `whenDurable` of the newest revision that the answer reveals. `subscribe` delivers only what
 *    is durable. So nothing that was ever shown is lost by a crash.
 * 3. When making a batch durable fails (a full disk), all writes since the last durable one are taken back, newest first:
 *    nobody has seen them. Their `whenDurable` rejects, and the store goes on with what it had.
 * 4. Revisions only rise, also after a restart and after writes that were taken back; numbers may be left out. A new store
 *    is at 1, so the first write gets 2 and no state has the revision 0.
 * 5. Changes newer than `compactedRevision` are kept for `listAt` and `subscribe`. The history is bounded in changes and
 *    in bytes, and empty after a restart.
 *
 * Bytes that were handed in or out belong to the store and are never changed by anybody.
 */
export interface Store {
  /** Of the newest write that stands, durable or not. Goes back to `durableRevision` when writes are taken back. */
  readonly revision: number;
  readonly durableRevision: number;
  /** The oldest state that `listAt` and `subscribe` can begin from. */
  readonly compactedRevision: number;

  get(bucket: string, key: string): StoreEntry | undefined;
  /**
   * Entries whose key begins with `prefix` and comes after `after`, by key; `limit` of them at most (0 is none). The order
   * is that of JavaScript texts, which for the names of Kubernetes is the order of bytes.
   */
  list(bucket: string, range?: ListRange): readonly StoreEntry[];
  count(bucket: string, prefix?: string): number;
  /** As `list`, of an earlier time; undefined when that is compacted. The revision must not lie in the future. */
  listAt(bucket: string, revision: number, range?: ListRange): readonly StoreEntry[] | undefined;

  /** Creates (`replaces` is 0) or replaces. `encode` is given the revision that the bytes are going to have. */
  put(bucket: string, key: string, replaces: number, encode: (revision: number) => Uint8Array): StoreEntry;
  /** Removes. `encode` makes the last bytes that watchers see; they carry the revision of the removal. */
  remove(bucket: string, key: string, replaces: number, encode: (revision: number) => Uint8Array): StoreEntry;
  /**
   * Undefined when it already is. Rejects when the write was taken back, with the reason, also when it is asked long
   * after. Answers while and after the store is closed, too.
   */
  whenDurable(revision: number): Promise<void> | undefined;

  /**
   * Delivers the changes of a bucket after `revision`: those in the history before it returns, later ones as they become
   * durable, in order, in batches that are never empty. Undefined when `revision` is compacted. A revision in the
   * future is allowed: nothing arrives until it is passed.
   *
   * The listener must not throw. Within `subscribe` that makes `subscribe` throw; later it is thrown from a microtask, which ends the
   * process unless somebody has said otherwise, after all others have been told. No write is touched by it.
   */
  subscribe(
    bucket: string,
    revision: number,
    listener: (changes: readonly StoreChange[]) => void,
  ): Subscription | undefined;

  /**
   * Makes everything durable and delivers it, then lets go of the files. Rejects when that could not be made durable; the
   * files are let go of all the same. From the call on, all others but `whenDurable` throw; a second `close` is the first.
   */
  close(): Promise<void>;
}

export interface StoreEntry {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly createRevision: number;
  readonly revision: number;
}

export interface ListRange {
  readonly prefix?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface StoreChange {
  readonly type: 'put' | 'remove';
  readonly bucket: string;
  /** After a removal: the last bytes, with the revision of the removal. */
  readonly entry: StoreEntry;
  /** Undefined for a creation. */
  readonly previous: StoreEntry | undefined;
}

export interface Subscription {
  close(): void;
}
