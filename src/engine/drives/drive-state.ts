import type { Drive } from '../../kube/stowage/drive.ts';
import { textOf } from '../../kube/wire.ts';
import { type DriveExclusion, readDrive } from './drive-record.ts';

/** Facts about a drive that other objects decide. */
export interface DriveSurroundings {
  /** Whether the filesystem belongs to another Drive. */
  readonly isDuplicate: boolean;
  /** Whether the Node of the drive exists; true if that is not known. */
  readonly hasNode: boolean;
}

/** Why a drive takes no new volumes, by its own object and by the others. `exclusion` is that of its record. */
export function exclusionAmong(
  exclusion: DriveExclusion | undefined,
  { isDuplicate, hasNode }: DriveSurroundings,
): DriveExclusion | undefined {
  if (!hasNode) return 'NodeGone';
  return isDuplicate ? 'Duplicate' : exclusion;
}

/**
 * The state of a drive for users: `status.state`, unless other objects or its deletion contradict it. A node service that does not run any
 * more leaves the last state that it has written. Unknown until a node has reported one.
 */
export function driveStateOf(drive: Drive, surroundings: DriveSurroundings): string {
  const exclusion = exclusionAmong(readDrive(drive).exclusion, surroundings);
  if (exclusion === 'NodeGone' || exclusion === 'Deleting') return exclusion;
  if (exclusion === 'Duplicate') return 'Error';
  return textOf(drive.status?.state) || 'Unknown';
}
