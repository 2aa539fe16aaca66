import type { DriveIndex } from './drive-index.ts';
import type { DriveKind, TopologyTerm } from './drive-requirements.ts';

export interface DriveRoom {
  /** The sum over all drives. */
  readonly freeBytes: bigint;
  /** The largest volume: the free bytes of one drive. */
  readonly largestBytes: number;
}

/** The free bytes of the drives of a kind within one topology term. A kind without labels in one segment needs no iteration. */
export function freeOnDrives(index: DriveIndex, kind: DriveKind, term: TopologyTerm): DriveRoom {
  const list = index.shortestList(kind, term);
  const criteria = Object.keys(term).length + Object.keys(kind.labels).length;
  if (criteria <= 1) {
    const largest = list.length === 0 ? 0 : list.at(list.length - 1).freeBytes;
    return { freeBytes: list.freeBytes, largestBytes: Math.max(0, largest) };
  }
  let freeBytes = 0n;
  let largestBytes = 0;
  for (let at = list.firstWith(1); at < list.length; at += 1) {
    const drive = list.at(at);
    if (!drive.isOfKind(kind) || !drive.isIn(term)) continue;
    freeBytes += BigInt(drive.freeBytes);
    largestBytes = drive.freeBytes;
  }
  return { freeBytes, largestBytes };
}
