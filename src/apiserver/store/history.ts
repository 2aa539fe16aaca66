import { assert } from '../../runtime/assert.ts';
import { firstWhere } from './sorted-keys.ts';
import type { StoreChange } from './store.ts';

/**
 * Limits of the history.
 *
 * 1. 100,000 changes cover a quarter of an hour at 100 writes a second, much longer than a watch needs to reconnect or
 *    a client needs to read all pages of a list.
 * 2. 128 MB of memory; this limit applies first if objects average more than 0.8 KB.
 * 3. A hundred changes are kept whatever their size, so that watches can resume even with the largest objects (1.5 MB).
 *    That can cost 150 MB more; a thousand changes could cost gigabytes.
 */
export interface HistoryLimits {
  readonly changesMax: number;
  readonly bytesMax: number;
  /** Kept even beyond `bytesMax`. */
  readonly changesMin: number;
}

const defaultHistoryLimits: HistoryLimits = {
  changesMax: 100_000,
  bytesMax: 128 * 2 ** 20,
  changesMin: 100,
};

/** The share of a limit that remains after compaction: dropping many changes together costs no more than dropping one. */
const shareKept = 7 / 8;

/** The memory of a change besides its bytes: its objects and the overhead of Node and the allocator. */
const changeOverheadBytes = 550;

/** The newest changes in order, overall and by bucket. Writes and rollbacks happen at the new end, compaction at the old end. */
export class History {
  readonly #limits: HistoryLimits;
  readonly #all: StoreChange[] = [];
  readonly #byBucket = new Map<string, StoreChange[]>();
  #compactedRevision: number;
  #bytes = 0;

  constructor(revision: number, limits: Partial<HistoryLimits> = {}) {
    this.#compactedRevision = revision;
    this.#limits = { ...defaultHistoryLimits, ...limits };
  }

  /** The history contains every later change. */
  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  append(change: StoreChange): void {
    const newest = this.#all.at(-1)?.entry.revision ?? this.#compactedRevision;
    assert(
      change.entry.revision > newest,
      `revision ${change.entry.revision} must be greater than ${newest}`,
    );
    this.#all.push(change);
    this.#bytes += bytesKeptBy(change);
    const ofBucket = this.#byBucket.get(change.bucket);
    if (ofBucket === undefined) this.#byBucket.set(change.bucket, [change]);
    else ofBucket.push(change);
  }

  /** The changes of a bucket after `after` up to `through`, in order. */
  between(bucket: string, after: number, through = Number.POSITIVE_INFINITY): StoreChange[] {
    assert(after >= this.#compactedRevision, `the changes after revision ${after} are compacted`);
    const changes = this.#byBucket.get(bucket) ?? [];
    return changes.slice(indexAfter(changes, after), indexAfter(changes, through));
  }

  /** Removes the changes after a revision and returns them, newest first. */
  rollBack(revision: number): StoreChange[] {
    const taken = this.#all.splice(indexAfter(this.#all, revision)).reverse();
    for (const change of taken) {
      this.#byBucket.get(change.bucket)!.pop();
      this.#bytes -= bytesKeptBy(change);
    }
    return taken;
  }

  /** Drops the oldest changes if there are too many, but none after `revision`, which subscribers have not received yet. */
  compact(revision: number): void {
    const { changesMax, bytesMax, changesMin } = this.#limits;
    const isTooLong = this.#all.length > changesMax;
    if (!isTooLong && (this.#bytes <= bytesMax || this.#all.length <= changesMin)) return;
    const droppableMax = indexAfter(this.#all, revision);
    const byCount = isTooLong ? this.#all.length - Math.floor(changesMax * shareKept) : 0;
    const byBytes = Math.min(this.#countToFree(bytesMax * shareKept), this.#all.length - changesMin);
    this.#drop(Math.min(Math.max(byCount, byBytes), droppableMax));
  }

  /** How many of the oldest changes to drop until at most `bytes` are kept; 0 if within the limit. */
  #countToFree(bytes: number): number {
    if (this.#bytes <= this.#limits.bytesMax) return 0;
    let rest = this.#bytes;
    let count = 0;
    while (rest > bytes && count < this.#all.length) {
      rest -= bytesKeptBy(this.#all[count]!);
      count += 1;
    }
    return count;
  }

  #drop(count: number): void {
    if (count <= 0) return;
    const dropped = this.#all.splice(0, count);
    for (const change of dropped) this.#bytes -= bytesKeptBy(change);
    this.#compactedRevision = dropped.at(-1)!.entry.revision;
    for (const [bucket, changes] of this.#byBucket) {
      changes.splice(0, indexAfter(changes, this.#compactedRevision));
      if (changes.length === 0) this.#byBucket.delete(bucket);
    }
  }
}

function indexAfter(changes: readonly StoreChange[], revision: number): number {
  return firstWhere(changes, ({ entry }) => entry.revision > revision);
}

/** Counts all bytes once: bytes that were put are part of the newest state or the `previous` of a later change. */
function bytesKeptBy({ type, entry, previous }: StoreChange): number {
  const removedBytes = type === 'remove' ? entry.bytes.length : 0;
  return (previous?.bytes.length ?? 0) + removedBytes + changeOverheadBytes;
}
