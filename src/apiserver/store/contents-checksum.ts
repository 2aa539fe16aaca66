import { crc32 } from 'node:zlib';
import type { StoreChange, StoreEntry } from './store.ts';

/**
 * What all objects come to: how many there are, and a sum in which every byte of each counts. It is written with every batch and
 * compared when a file is opened, because LMDB notices neither a changed byte nor a page that is gone.
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

/** After changes, which are given in order. */
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

/** As it is stored; of one revision, so that what an earlier version of the program has written since is noticed. */
export function formatChecksum({ count, sum }: ContentsChecksum, revision: number): string {
  return `${revision} ${count} ${sum}`;
}

function entryChecksum(bucket: string, { key, bytes, createRevision, revision }: StoreEntry): number {
  // The bytes first: of none, crc32 does not always give back what it began with.
  return crc32(`${revision} ${createRevision} ${bucket}\0${key}`, crc32(bytes));
}

/** Of a number beyond 32 bits that may be negative. */
function mod32(value: number): number {
  const rest = value % 2 ** 32;
  return rest < 0 ? rest + 2 ** 32 : rest;
}
