import { driveNodeKey } from '../../kube/stowage/drive.ts';
import type { DriveRecord } from './drive-record.ts';
import type { VolumeConditions } from './drive-rule.ts';

/** Topology segments that must all be equal, such as `{ 'stowage.dev/node': 'n1' }`. */
export type TopologyTerm = Readonly<Record<string, string>>;

/** The requirements of a new volume on its drive. */
export interface DriveRequirements extends DriveKind, VolumeConditions {
  /** At least 1. */
  readonly bytes: number;
  /** The driver tries them one after the other. */
  readonly preferred: readonly TopologyTerm[];
  /** The driver tries them together, after the preferred ones. If both lists are empty, the drive may be anywhere. */
  readonly requisite: readonly TopologyTerm[];
  /** A drive that was chosen before. It takes precedence while the volume fits on it. */
  readonly chosenDrive?: string | undefined;
}

/** The drives that a StorageClass accepts. */
export interface DriveKind {
  /** Undefined: any. */
  readonly tier?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

export function isOfKind(record: Pick<DriveRecord, 'tier' | 'labels'>, { tier, labels }: DriveKind): boolean {
  return (tier === undefined || record.tier === tier) && hasAll(record.labels, labels);
}

/** Equal for equal kinds. */
export function driveKindKey({ tier = '', labels }: DriveKind): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${tier} ${JSON.stringify(pairs)}`;
}

/**
 * A term that names the drive's node may have segments that the drive has not reported yet: the caller read them from the labels of that
 * Node. Without the node, a segment must be reported.
 */
export function isInTerm({ topology }: DriveRecord, term: TopologyTerm): boolean {
  const namesNode = term[driveNodeKey] === topology[driveNodeKey];
  for (const key in term) {
    const isUnreported = namesNode && topology[key] === undefined;
    if (!isUnreported && topology[key] !== term[key]) return false;
  }
  return true;
}

/** The terms within which a drive must be, whatever the order; empty: anywhere. */
export function allTerms({ preferred, requisite }: DriveRequirements): readonly TopologyTerm[] {
  return [...preferred, ...requisite];
}

/** The lists of terms in the order in which they are tried; the drives of one list are equally good. */
export function termGroups({
  preferred,
  requisite,
}: DriveRequirements): readonly (readonly TopologyTerm[])[] {
  const groups = [...preferred.map((term) => [term]), ...(requisite.length > 0 ? [requisite] : [])];
  return groups.length > 0 ? groups : [anywhere];
}

const anywhere: readonly TopologyTerm[] = [{}];

function hasAll(values: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  for (const key in wanted) if (values[key] !== wanted[key]) return false;
  return true;
}
