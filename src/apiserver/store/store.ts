/**
 * Stores the objects of the embedded API server: buckets of keyed bytes under one revision counter, similar to etcd.
 *
 * 1. The newest state is in memory, and `get`, `list` and the two writes are synchronous: no other code runs between
 *    reading an entry and replacing it, so a compare-and-swap needs no lock. Every write still names the revision that
 *    it replaces; a mismatch is a bug of the caller and throws.
 * 2. A write is visible immediately and durable later. Before code reveals a revision to clients (in the response to a
 *    write, a get or a list), it awaits `whenDurable` of the newest revision that the response contains. `subscribe`
 *    delivers only durable changes. So a crash never loses anything that a client has seen.
 * 3. If a batch cannot be made durable (a full disk), all writes since the last durable one are rolled back, newest
 *    first; no client has seen them. Their `whenDurable` rejects, and the store continues with the previous state.
 * 4. Revisions only increase, also across restarts and rollbacks; numbers may be skipped. A new store is at 1, so the
 *    first write gets 2 and no state has revision 0.
 * 5. Changes newer than `compactedRevision` are kept for `listAt` and `subscribe`. The history is bounded in changes
 *    and in bytes, and empty after a restart.
 *
 * Bytes passed in or returned belong to the store; callers must not modify them.
 */
export interface Store {
  /** The revision of the newest write, durable or not. A rollback resets it to `durableRevision`. */
  readonly revision: number;
  readonly durableRevision: number;
  /** The oldest revision that `listAt` and `subscribe` can start from. */
  readonly compactedRevision: number;

  get(bucket: string, key: string): StoreEntry | undefined;
  /**
   * Entries with the prefix after `after`, sorted by key; at most `limit` (0 is none). The order is that of JavaScript
   * strings, which for Kubernetes names is byte order.
   */
  list(bucket: string, range?: ListRange): readonly StoreEntry[];
  count(bucket: string, prefix?: string): number;
  /** As `list`, at an earlier revision; undefined if that is compacted. The revision must not be in the future. */
  listAt(bucket: string, revision: number, range?: ListRange): readonly StoreEntry[] | undefined;

  /** Creates (`replaces` is 0) or replaces. `encode` receives the revision that the bytes will have. */
  put(bucket: string, key: string, replaces: number, encode: (revision: number) => Uint8Array): StoreEntry;
  /** Removes. `encode` returns the last bytes that watchers see; they carry the revision of the removal. */
  remove(bucket: string, key: string, replaces: number, encode: (revision: number) => Uint8Array): StoreEntry;
  /**
   * Undefined if the revision is durable already. Rejects with the reason if the write was rolled back, even much
   * later. Works while and after the store is closed.
   */
  whenDurable(revision: number): Promise<void> | undefined;

  /**
   * Delivers the changes of a bucket after `revision`: those in the history before it returns, later ones as they
   * become durable, in order, in non-empty batches. Undefined if `revision` is compacted. A revision in the future is
   * allowed: nothing is delivered until it is passed.
   *
   * The listener must not throw. During `subscribe`, an exception makes `subscribe` throw. Later it is rethrown from a
   * microtask after all other listeners were notified, which ends the process by default. It does not affect any write.
   */
  subscribe(
    bucket: string,
    revision: number,
    listener: (changes: readonly StoreChange[]) => void,
  ): Subscription | undefined;

  /**
   * Makes all writes durable, delivers them and releases the files. Rejects if the writes could not be made durable;
   * the files are released anyway. From the call on, all methods except `whenDurable` throw; a second `close` returns
   * the result of the first.
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
  /** For a removal: the last bytes, with the revision of the removal. */
  readonly entry: StoreEntry;
  /** Undefined for a creation. */
  readonly previous: StoreEntry | undefined;
}

export interface Subscription {
  close(): void;
}
