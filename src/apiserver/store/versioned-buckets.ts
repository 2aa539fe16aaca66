import { assert } from '../../runtime/assert.ts';
import { SortedKeys } from './sorted-keys.ts';
import type { ListRange, StoreChange, StoreEntry } from './store.ts';

/** The newest state: entries by bucket and key. Changes are applied in order and undone newest first. */
export class VersionedBuckets {
  readonly #buckets = new Map<string, Bucket>();

  get(bucket: string, key: string): StoreEntry | undefined {
    return this.#buckets.get(bucket)?.entries.get(key);
  }

  list(bucket: string, { prefix, after, limit }: ListRange = {}): StoreEntry[] {
    const found = this.#buckets.get(bucket);
    if (found === undefined) return [];
    return found.keys.range(prefix, after, limit).map((key) => found.entries.get(key)!);
  }

  count(bucket: string, prefix?: string): number {
    return this.#buckets.get(bucket)?.keys.count(prefix) ?? 0;
  }

  /** As `list`, without the newest changes, which are given in order. Costs one lookup for each change plus the result. */
  listWithout(bucket: string, undone: readonly StoreChange[], range: ListRange = {}): StoreEntry[] {
    const earlier = new Map<string, StoreEntry | undefined>();
    for (const { entry, previous } of undone) {
      if (isWithin(range, entry.key) && !earlier.has(entry.key)) earlier.set(entry.key, previous);
    }
    if (earlier.size === 0) return this.list(bucket, range);
    const limit = range.limit ?? Number.POSITIVE_INFINITY;
    const unchanged = this.#listExcept(bucket, earlier, range);
    // Entries beyond the limit are dropped before sorting; usually those are most of them.
    const lastKey = unchanged.length < limit ? undefined : unchanged.at(-1)?.key;
    const changed = [...earlier.values()]
      .filter((entry) => entry !== undefined)
      .filter(({ key }) => lastKey === undefined || key < lastKey);
    return merge(unchanged, changed.sort(byKey), limit);
  }

  /** As `list`, without the given keys. */
  #listExcept(bucket: string, keys: ReadonlyMap<string, unknown>, range: ListRange): StoreEntry[] {
    const { limit = Number.POSITIVE_INFINITY } = range;
    const found: StoreEntry[] = [];
    let { after } = range;
    while (found.length < limit) {
      const page = this.list(bucket, { ...range, after });
      for (const entry of page) if (!keys.has(entry.key)) found.push(entry);
      if (page.length < limit) break;
      after = page.at(-1)?.key;
    }
    return found.slice(0, limit);
  }

  apply(change: StoreChange): void {
    const { bucket, entry, previous } = change;
    this.#expect(bucket, entry.key, previous);
    this.#set(bucket, entry.key, change.type === 'put' ? entry : undefined);
  }

  /** `change` must be the newest applied change of its key. */
  undo(change: StoreChange): void {
    const { bucket, entry, previous } = change;
    this.#expect(bucket, entry.key, change.type === 'put' ? entry : undefined);
    this.#set(bucket, entry.key, previous);
  }

  /** Adds an entry that is older than the first change. */
  load(bucket: string, entry: StoreEntry): void {
    this.#expect(bucket, entry.key, undefined);
    this.#set(bucket, entry.key, entry);
  }

  #expect(bucket: string, key: string, expected: StoreEntry | undefined): void {
    assert(
      this.get(bucket, key) === expected,
      `${bucket} ${key} differs from the state that the change was made for`,
    );
  }

  #set(bucketName: string, key: string, entry: StoreEntry | undefined): void {
    const bucket = this.#buckets.get(bucketName) ?? this.#addBucket(bucketName);
    if (entry === undefined) {
      if (bucket.entries.delete(key)) bucket.keys.delete(key);
      return;
    }
    if (!bucket.entries.has(key)) bucket.keys.add(key);
    bucket.entries.set(key, entry);
  }

  #addBucket(name: string): Bucket {
    const bucket = { entries: new Map<string, StoreEntry>(), keys: new SortedKeys() };
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

interface Bucket {
  readonly entries: Map<string, StoreEntry>;
  /** The same keys, sorted. */
  readonly keys: SortedKeys;
}

function isWithin({ prefix = '', after }: ListRange, key: string): boolean {
  return key.startsWith(prefix) && (after === undefined || key > after);
}

function byKey(a: StoreEntry, b: StoreEntry): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Merges two sorted lists without common keys. */
function merge(left: readonly StoreEntry[], right: readonly StoreEntry[], limit: number): StoreEntry[] {
  const merged: StoreEntry[] = [];
  let leftIndex = 0;
  let rightIndex = 0;
  while (merged.length < limit) {
    const fromLeft = left[leftIndex];
    const fromRight = right[rightIndex];
    const isLeft = fromRight === undefined || (fromLeft !== undefined && fromLeft.key < fromRight.key);
    const next = isLeft ? fromLeft : fromRight;
    if (next === undefined) break;
    merged.push(next);
    if (isLeft) leftIndex += 1;
    else rightIndex += 1;
  }
  return merged;
}
