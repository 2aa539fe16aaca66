import type { DriveAsk, TopologyTerm } from '../drive-ask.ts';
import { type DriveRecord, promisedBytes } from '../drive-record.ts';

/** The slow and obvious form of the choice: the names of all drives that may be chosen, each as likely. Empty: none fits. */
export function equalDrives(drives: readonly DriveRecord[], ask: DriveAsk): readonly string[] {
  const groups: (readonly TopologyTerm[])[] = ask.preferred.map((term) => [term]);
  if (ask.requisite.length > 0) groups.push(ask.requisite);
  if (groups.length === 0) groups.push([{}]);
  const anyTerm = groups.flat();
  const chosen = drives.filter(({ name }) => name === ask.chosenDrive);
  if (chosen.some((drive) => isCandidate(drive, ask, anyTerm))) return chosen.map(({ name }) => name);
  for (const terms of groups) {
    const candidates = drives.filter((drive) => isCandidate(drive, ask, terms));
    if (candidates.length === 0) continue;
    const most = Math.max(...candidates.map(freeOf));
    return candidates.filter((drive) => freeOf(drive) === most).map(({ name }) => name);
  }
  return [];
}

export function freeOf(drive: DriveRecord): number {
  return drive.capacityBytes - promisedBytes(drive);
}

function isCandidate(drive: DriveRecord, ask: DriveAsk, terms: readonly TopologyTerm[]): boolean {
  return (
    drive.exclusion === undefined &&
    freeOf(drive) - (drive.capacityBytes * (ask.growthReservePercent ?? 0)) / 100 >= ask.bytes &&
    (ask.tier === undefined || ask.tier === drive.tier) &&
    Object.entries(ask.labels).every(([key, value]) => drive.labels[key] === value) &&
    terms.some((term) => isIn(drive, term)) &&
    !drive.volumes.some(({ spreadGroup }) => ask.spreadGroup !== undefined && spreadGroup === ask.spreadGroup)
  );
}

function isIn({ topology, nodeName }: DriveRecord, term: TopologyTerm): boolean {
  const reported = { ...(term['stowage.dev/node'] === nodeName ? term : {}), ...topology };
  return Object.entries(term).every(([key, value]) => reported[key] === value);
}
