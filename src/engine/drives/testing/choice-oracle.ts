import { type DriveRecord, promisedBytes } from '../drive-record.ts';
import type { DriveRequirements, TopologyTerm } from '../drive-requirements.ts';

/** The slow and obvious form of the choice: the names of all drives that may be chosen, each as likely. Empty: none fits. */
export function equalDrives(
  drives: readonly DriveRecord[],
  requirements: DriveRequirements,
): readonly string[] {
  const groups: (readonly TopologyTerm[])[] = requirements.preferred.map((term) => [term]);
  if (requirements.requisite.length > 0) groups.push(requirements.requisite);
  if (groups.length === 0) groups.push([{}]);
  const anyTerm = groups.flat();
  const chosen = drives.filter(({ name }) => name === requirements.chosenDrive);
  if (chosen.some((drive) => isCandidate(drive, requirements, anyTerm)))
    return chosen.map(({ name }) => name);
  for (const terms of groups) {
    const candidates = drives.filter((drive) => isCandidate(drive, requirements, terms));
    if (candidates.length === 0) continue;
    const most = Math.max(...candidates.map(freeOf));
    return candidates.filter((drive) => freeOf(drive) === most).map(({ name }) => name);
  }
  return [];
}

export function freeOf(drive: DriveRecord): number {
  return drive.capacityBytes - promisedBytes(drive);
}

function isCandidate(
  drive: DriveRecord,
  requirements: DriveRequirements,
  terms: readonly TopologyTerm[],
): boolean {
  return (
    drive.exclusion === undefined &&
    freeOf(drive) - (drive.capacityBytes * (requirements.growthReservePercent ?? 0)) / 100 >=
      requirements.bytes &&
    (requirements.tier === undefined || requirements.tier === drive.tier) &&
    Object.entries(requirements.labels).every(([key, value]) => drive.labels[key] === value) &&
    terms.some((term) => isIn(drive, term)) &&
    !drive.volumes.some(
      ({ spreadGroup }) => requirements.spreadGroup !== undefined && spreadGroup === requirements.spreadGroup,
    )
  );
}

function isIn({ topology, nodeName }: DriveRecord, term: TopologyTerm): boolean {
  const reported = { ...(term['stowage.dev/node'] === nodeName ? term : {}), ...topology };
  return Object.entries(term).every(([key, value]) => reported[key] === value);
}
