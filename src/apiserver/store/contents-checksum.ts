import { crc32 } from 'node:zlib';
import type { StoreChange, StoreEntry } from './store.ts';

/**
 * The number of objects and a checksum over all their bytes. It is written with every batch and compared when a file is
 * opened, because LMDB detects neither a changed byte nor a missing page.
 */
export interface ContentsChecksum {
  readonly count: number;
  readonly sum: number;
}

export const emptyChecksum: ContentsChecksum = { count: 0, sum: 0 };

export function addEntry(
  { count, sum }: ContentsChecksum,
  bucket: string,
  entry: StoreEntry,
): ContentsChecksum {
  return { count: count + 1, sum: (sum + entryChecksum(bucket, entry)) >>> 0 };
}

/** The checksum after the given changes, in order. */
export function applyChanges(before: ContentsChecksum, changes: readonly StoreChange[]): ContentsChecksum {
  let { count, sum } = before;
  for (const { type, bucket, entry, previous } of changes) {
    if (previous !== undefined) {
      count -= 1;
      sum -= entryChecksum(bucket, previous);
    }
    if (type === 'put') {
      count += 1;
      sum += entryChecksum(bucket, entry);
    }
  }
  return { count, sum: mod32(sum) };
}

/** The stored form. It names the revision, so that it protects the record of the revision too. */
export function formatChecksum({ count, sum }: ContentsChecksum, revision: number): string {
  return `${revision} ${count} ${sum}`;
}

function entryChecksum(bucket: string, { key, bytes, createRevision, revision }: StoreEntry): number {
  // The bytes first: for empty input, crc32 does not always return its initial value.
  return crc32(`${revision} ${createRevision} ${bucket}\0${key}`, crc32(bytes));
}

/** For numbers beyond 32 bits, which may be negative. */
function mod32(value: number): number {
  const rest = value % 2 ** 32;
  return rest < 0 ? rest + 2 ** 32 : rest;
}
