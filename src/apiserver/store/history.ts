import { assert } from '../../runtime/assert.ts';
import { firstWhere } from './sorted-keys.ts';
import type { StoreChange } from './store.ts';

/**
 * How much of the past is kept.
 *
 * 1. 100,000 changes are a quarter of an hour at 100 writes a second, a lot longer than a watch takes to come back or a
 *    reader takes to turn a page.
 * 2. 128 MB is what the past may cost in memory; reached first where objects are larger than 0.8 KB on average.
 * 3. A hundred changes are kept whatever their size, so that even a store of the largest objects (1.5 MB) lets a watch
 *    resume. That can cost 150 MB more, not the gigabytes that a thousand could.
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

/** When a limit is passed, this share of it remains: dropping many at once costs no more than dropping one. */
const shareKept = 7 / 8;

/** What a change costs besides the bytes it keeps: its objects, and what Node and the allocator need around each piece of memory. */
const changeOverheadBytes = 550;

/** The newest changes in order, all together and by bucket. Grows and shrinks at the new end, forgets at the old. */
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

  /** Every later change is here. */
  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  append(change: StoreChange): void {
    const newest = this.#all.at(-1)?.entry.revision ?? this.#compactedRevision;
    assert(change.entry.revision > newest, `revision ${change.entry.revision} follows ${newest}`);
    this.#all.push(change);
    this.#bytes += bytesKeptBy(change);
    const ofBucket = this.#byBucket.get(change.bucket);
    if (ofBucket === undefined) this.#byBucket.set(change.bucket, [change]);
    else ofBucket.push(change);
  }

  /** The changes of a bucket after one revision and up to another, in order. */
  between(bucket: string, after: number, through = Number.POSITIVE_INFINITY): StoreChange[] {
    assert(after >= this.#compactedRevision, `the changes after revision ${after} are compacted`);
    const changes = this.#byBucket.get(bucket) ?? [];
    return changes.slice(indexAfter(changes, after), indexAfter(changes, through));
  }

  /** Removes the changes after a revision and gives them back, newest first. */
  rollBack(revision: number): StoreChange[] {
    const taken = this.#all.splice(indexAfter(this.#all, revision)).reverse();
    for (const change of taken) {
      this.#byBucket.get(change.bucket)!.pop();
      this.#bytes -= bytesKeptBy(change);
    }
    return taken;
  }

  /** Forgets the oldest changes where there are too many; none after `revision`, which somebody still has to get. */
  compact(revision: number): void {
    const { changesMax, bytesMax, changesMin } = this.#limits;
    const isTooLong = this.#all.length > changesMax;
    if (!isTooLong && (this.#bytes <= bytesMax || this.#all.length <= changesMin)) return;
    const droppableMax = indexAfter(this.#all, revision);
    const byCount = isTooLong ? this.#all.length - Math.floor(changesMax * shareKept) : 0;
    const byBytes = Math.min(this.#countToFree(bytesMax * shareKept), this.#all.length - changesMin);
    this.#drop(Math.min(Math.max(byCount, byBytes), droppableMax));
  }

  /** How many of the oldest must go until no more than `bytes` are kept; 0 while all of them may stay. */
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

/** Bytes that were put are in the newest state, or the `previous` of a later change: they are counted once. */
function bytesKeptBy({ type, entry, previous }: StoreChange): number {
  const removedBytes = type === 'remove' ? entry.bytes.length : 0;
  return (previous?.bytes.length ?? 0) + removedBytes + changeOverheadBytes;
}
