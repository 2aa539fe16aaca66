import { assert } from '../../runtime/assert.ts';
import type { Durability } from './durability.ts';
import { DurableWaiters } from './durable-waiters.ts';
import { GroupCommit } from './group-commit.ts';
import { History, type HistoryLimits } from './history.ts';
import type { ListRange, Store, StoreChange, StoreEntry, Subscription } from './store.ts';
import { StoreError } from './store-error.ts';
import { Subscribers } from './subscribers.ts';
import { VersionedBuckets } from './versioned-buckets.ts';

export interface MemoryStoreOptions {
  /** If undefined, a write is as durable as the process right away, and `whenDurable` never needs to be awaited. */
  readonly durability?: Durability | undefined;
  readonly history?: Partial<HistoryLimits> | undefined;
  /** The state and revision that an earlier process persisted. */
  readonly initial?: InitialState | undefined;
  readonly observer?: StoreObserver | undefined;
}

/** Called synchronously with every version of every object, in order. Must not throw, and must not use the store. */
export interface StoreObserver {
  written(change: StoreChange): void;
  /** Undoes `written`, newest change first: the change could not be made durable. */
  rolledBack(change: StoreChange): void;
}

export interface InitialState {
  readonly revision: number;
  readonly entries: Iterable<readonly [bucket: string, entry: StoreEntry]>;
}

/** The revision of a new store, as in etcd: no list ever has version 0, which means "any" to clients. */
export const firstRevision = 1;

/** The limit for bucket and key together in UTF-8: LMDB's limit, and twice what the longest names of Kubernetes need. */
const keyBytesMax = 1900;

/** Implements `Store` in memory. With a `Durability` it is also on disk; the only difference is when a write becomes durable. */
export class MemoryStore implements Store {
  readonly #buckets = new VersionedBuckets();
  readonly #history: History;
  readonly #subscribers = new Subscribers();
  readonly #waiters = new DurableWaiters();
  readonly #durability: Durability | undefined;
  readonly #observer: StoreObserver | undefined;
  readonly #commits: GroupCommit | undefined;
  /** The newest revision ever issued to a write, rolled back or not. */
  #issuedRevision: number;
  #revision: number;
  #durableRevision: number;
  /** Subscribers have received the changes up to here. */
  #publishedRevision: number;
  #isPublishing = false;
  #lastFailure: unknown;
  #closing: Promise<void> | undefined;

  constructor({ durability, history, initial, observer }: MemoryStoreOptions = {}) {
    const revision = initial?.revision ?? firstRevision;
    this.#issuedRevision = revision;
    this.#revision = revision;
    this.#durableRevision = revision;
    this.#publishedRevision = revision;
    this.#history = new History(revision, history);
    for (const [bucket, entry] of initial?.entries ?? []) this.#buckets.load(bucket, entry);
    this.#durability = durability;
    this.#observer = observer;
    this.#commits = durability && new GroupCommit(durability, this.#outcome());
  }

  get revision(): number {
    return this.#revision;
  }

  get durableRevision(): number {
    return this.#durableRevision;
  }

  get compactedRevision(): number {
    return this.#history.compactedRevision;
  }

  get(bucket: string, key: string): StoreEntry | undefined {
    this.#expectOpen();
    return this.#buckets.get(bucket, key);
  }

  list(bucket: string, range?: ListRange): readonly StoreEntry[] {
    this.#expectOpen();
    return this.#buckets.list(bucket, range);
  }

  count(bucket: string, prefix?: string): number {
    this.#expectOpen();
    return this.#buckets.count(bucket, prefix);
  }

  listAt(bucket: string, revision: number, range?: ListRange): readonly StoreEntry[] | undefined {
    this.#expectOpen();
    assert(
      revision <= this.#revision,
      `revision ${revision} is newer than the current revision ${this.#revision}`,
    );
    if (revision < this.compactedRevision) return undefined;
    const undone = this.#history.between(bucket, revision);
    return this.#buckets.listWithout(bucket, undone, range);
  }

  put(bucket: string, key: string, replaces: number, encode: (revision: number) => Uint8Array): StoreEntry {
    return this.#write('put', this.#target(bucket, key, replaces), encode);
  }

  remove(
    bucket: string,
    key: string,
    replaces: number,
    encode: (revision: number) => Uint8Array,
  ): StoreEntry {
    assert(replaces !== 0, `${bucket} ${key}: a removal must name the revision that it removes`);
    return this.#write('remove', this.#target(bucket, key, replaces), encode);
  }

  whenDurable(revision: number): Promise<void> | undefined {
    assert(
      revision <= this.#issuedRevision,
      `revision ${revision} is newer than the current revision ${this.#revision}`,
    );
    if (revision <= this.#durableRevision && !this.#waiters.wasRolledBack(revision)) return undefined;
    return this.#waiters.wait(revision);
  }

  subscribe(
    bucket: string,
    revision: number,
    listener: (changes: readonly StoreChange[]) => void,
  ): Subscription | undefined {
    this.#expectOpen();
    if (revision < this.compactedRevision) return undefined;
    const through = this.#durableRevision;
    const missed = this.#history.between(bucket, revision, through);
    // Called first: a listener that throws is not subscribed. Nothing is published meanwhile.
    if (missed.length > 0) listener(missed);
    return this.#subscribers.add(bucket, Math.max(revision, through), listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const failureBefore = this.#lastFailure;
    await this.#commits?.drain();
    this.#publish();
    this.#subscribers.clear();
    await this.#durability?.close();
    // Pending writes could not be made durable: the caller of close must know.
    if (this.#lastFailure !== failureBefore) throw this.#lastFailure;
  }

  #expectOpen(): void {
    if (this.#closing !== undefined) throw new StoreError('Closed', 'the store is closed; open it again');
  }

  #target(bucket: string, key: string, replaces: number): Target {
    this.#expectOpen();
    const previous = this.#buckets.get(bucket, key);
    const found = previous?.revision ?? 0;
    assert(
      found === replaces,
      `${bucket} ${key}: replaces revision ${replaces}, but the current one is ${found}`,
    );
    if (previous === undefined) checkName(bucket, key);
    return { bucket, key, previous };
  }

  #write(type: StoreChange['type'], target: Target, encode: (revision: number) => Uint8Array): StoreEntry {
    const { bucket, key, previous } = target;
    const revision = this.#issuedRevision + 1;
    const bytes = ownedBytes(encode(revision));
    assert(this.#issuedRevision === revision - 1, 'encode must not write');
    const entry = { key, bytes, createRevision: previous?.createRevision ?? revision, revision };
    const change: StoreChange = { type, bucket, entry, previous };
    this.#buckets.apply(change);
    this.#history.append(change);
    this.#issuedRevision = revision;
    this.#revision = revision;
    this.#observer?.written(change);
    if (this.#commits === undefined) this.#onDurable(revision);
    else this.#commits.add(change);
    return entry;
  }

  #outcome() {
    return {
      onDurable: (revision: number) => this.#onDurable(revision),
      onFailed: (reason: unknown) => this.#rollBack(reason),
    };
  }

  #onDurable(revision: number): void {
    this.#durableRevision = revision;
    this.#waiters.resolveThrough(revision);
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    queueMicrotask(() => this.#publish());
  }

  /** Never called from within a write: a listener would observe the store between two statements of the writer. */
  #publish(): void {
    this.#isPublishing = false;
    const after = this.#publishedRevision;
    const through = this.#durableRevision;
    if (after === through) return;
    this.#publishedRevision = through;
    try {
      this.#subscribers.publish(through, (bucket) => this.#history.between(bucket, after, through));
    } finally {
      this.#history.compact(through);
    }
  }

  #rollBack(reason: unknown): void {
    this.#lastFailure = reason;
    for (const change of this.#history.rollBack(this.#durableRevision)) {
      this.#buckets.undo(change);
      this.#observer?.rolledBack(change);
    }
    this.#revision = this.#durableRevision;
    this.#waiters.rejectBetween(this.#durableRevision, this.#issuedRevision, reason);
  }
}

/** The entry that a write replaces, if any. */
interface Target {
  readonly bucket: string;
  readonly key: string;
  readonly previous: StoreEntry | undefined;
}

function checkName(bucket: string, key: string): void {
  assert(bucket !== '' && !bucket.includes('\0'), `${JSON.stringify(bucket)} cannot name a bucket`);
  const bytes = Buffer.byteLength(bucket) + Buffer.byteLength(key);
  assert(
    bytes <= keyBytesMax,
    `${bucket} ${key}: a key must have at most ${keyBytesMax} bytes, but has ${bytes}`,
  );
}

/**
 * A small Buffer is usually a view of a shared allocation. Keeping it would keep the whole allocation, several times
 * its size. So bytes that share their memory are copied.
 */
function ownedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const owned = Buffer.allocUnsafeSlow(bytes.byteLength);
  owned.set(bytes);
  return owned;
}
