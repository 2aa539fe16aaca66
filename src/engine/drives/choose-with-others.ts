import { driveNodeKey } from '../../kube/stowage/drive.ts';
import { chooseDrive, type DriveChoice, fitsOn, type TieBreaker } from './choose-drive.ts';
import type { DriveIndex, IndexedDrive } from './drive-index.ts';
import type { DriveKind, DriveRequirements } from './drive-requirements.ts';
import { compareFreeBytes } from './drive-rule.ts';

/** Beyond so many other volumes a drive is chosen without regard to them: each one triples the cost of the search. */
const othersMax = 7;

/** Another volume that is to be placed within the same topology terms, later. */
export interface OtherVolume extends DriveKind {
  readonly bytes: number;
}

/**
 * Chooses the drive of a new volume as `chooseDrive` does, but among those drives that leave a place for every one of the other volumes.
 * The search is exact. If no drive does, the volume is placed without regard to the others.
 */
export function chooseWithOthers(
  index: DriveIndex,
  requirements: DriveRequirements,
  others: readonly OtherVolume[],
  random: TieBreaker,
): DriveChoice {
  if (others.length === 0 || others.length > othersMax) return chooseDrive(index, requirements, random);
  const drives = [...index.values()].toSorted((a, b) => compareFreeBytes(a.freeBytes, b.freeBytes));
  const places = drives.map((drive) => ({ drive, sums: sumsOn(drive, requirements, others) }));
  let best: IndexedDrive[] = [];
  for (const { drive } of places) {
    if (best.length > 0 && drive.freeBytes < best[0]!.freeBytes) break;
    if (fitsOn(drive, requirements) && haveRoom(places, drive, requirements.bytes)) best = [...best, drive];
  }
  if (best.length === 0) return chooseDrive(index, requirements, random);
  return { kind: 'drive', drive: best[random.int(best.length)]! };
}

/** Chooses the drive of an inline volume, which is on the node of its pod: beside the other inline volumes of the pod that have no drive yet. */
export function chooseOnNode(
  index: DriveIndex,
  nodeName: string,
  { bytes, tier, labels }: OtherVolume,
  others: readonly OtherVolume[],
  random: TieBreaker,
): DriveChoice {
  const requisite = [{ [driveNodeKey]: nodeName }];
  return chooseWithOthers(index, { bytes, tier, labels, preferred: [], requisite }, others, random);
}

/** The bytes of each set of the other volumes on one drive, by bit mask; infinite if the drive does not accept one of them. */
interface Place {
  readonly drive: IndexedDrive;
  readonly sums: readonly number[];
}

function sumsOn(
  drive: IndexedDrive,
  requirements: DriveRequirements,
  others: readonly OtherVolume[],
): readonly number[] {
  const sums = [0];
  for (const { bytes, tier, labels } of others) {
    const isAccepted = fitsOn(drive, { ...requirements, bytes, tier, labels });
    for (const sum of [...sums]) sums.push(isAccepted ? sum + bytes : Number.POSITIVE_INFINITY);
  }
  return sums;
}

/** Whether all other volumes have a place when `taken` bytes of the drive are used: one drive after the other adds what it can take. */
function haveRoom(places: readonly Place[], chosen: IndexedDrive, taken: number): boolean {
  const all = places[0]!.sums.length - 1;
  let placed: ReadonlySet<number> = new Set([0]);
  for (const { drive, sums } of places) {
    const free = drive.freeBytes - (drive === chosen ? taken : 0);
    const next = new Set(placed);
    for (const before of placed) {
      const left = all & ~before;
      for (let more = left; more > 0; more = (more - 1) & left)
        if (sums[more]! <= free) next.add(before | more);
    }
    if (next.has(all)) return true;
    placed = next;
  }
  return false;
}
