import type { PoolRecord } from '../../records/pool-record.ts';
import { compareSizes, type Size, scaleSize, sizeOfBytes, zeroSize } from '../../size.ts';

/** The largest single volume: `largest` if published, else `free`. */
export function publishedLimit(record: PoolRecord): Size | undefined {
  return record.largest ?? record.free;
}

/** The published capacity before promises: `free` if published, else `largest`. */
export function publishedCapacity(record: PoolRecord): Size {
  return record.free ?? record.largest ?? zeroSize;
}

/** The bytes that a new volume takes of the pool: CSI drivers create no volume below their `minimum_volume_size`, and need not refuse a smaller request. */
export function bytesTaken({ smallest }: PoolRecord, size: Size): Size {
  return smallest !== undefined && compareSizes(size, smallest) < 0 ? smallest : size;
}

/** Converts bytes of one pool to bytes of another on the same disks, as their classes say, or else by the published capacity reports: if the disks hold 128 GiB mirrored or 256 GiB striped, a mirrored byte costs two striped ones. */
export function convertBetweenPools(size: Size, from: PoolRecord, to: PoolRecord): Size {
  if (from === to) return size;
  if (from.factorMilli !== undefined && to.factorMilli !== undefined)
    return scaleSize(size, sizeOfBytes(from.factorMilli), sizeOfBytes(to.factorMilli));
  const fromCapacity = publishedCapacity(from);
  const toCapacity = publishedCapacity(to);
  if (compareSizes(fromCapacity, zeroSize) <= 0 || compareSizes(fromCapacity, toCapacity) === 0) return size;
  return scaleSize(size, toCapacity, fromCapacity);
}
