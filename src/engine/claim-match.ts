import { matchesLabels } from '../kube/selectors/label-selector.ts';
import type { ClusterIndex } from './cluster-index/cluster-index.ts';
import type { VolumeGroup } from './cluster-index/volumes/volume-table.ts';
import { modeCount, offersModes } from './records/access-modes.ts';
import type { ClaimRecord } from './records/claim-record.ts';
import type { VolumeRecord } from './records/volume-record.ts';
import { acceptance, VolumeWalk } from './rules/volume-binding/claim-request-groups.ts';
import { servesAsPrebound } from './rules/volume-binding/needs.ts';
import { compareSizes, zeroSize } from './size.ts';

/*
 * Matches a claim without a pod, as Kubernetes' PV controller does: the node does not matter, and a volume that names the claim, or that
 * the claim names, comes before one that merely fits.
 */

/**
 * The volume for the claim: one that is reserved for it, else the smallest that fits among those with the fewest access modes.
 * A claim that waits for its first consumer (`isDelayed`) gets only a volume that is reserved for it.
 *
 * Cost: a binary search for each set of access modes. A selector adds a visit of each volume that it rejects on the way.
 *
 * Two choices are fixed that kube-controller-manager leaves to chance: among equal volumes the first by name wins, and a volume that is
 * reserved for the claim comes first even if others have fewer access modes.
 */
export function matchClaim(
  index: ClusterIndex,
  claim: ClaimRecord,
  isDelayed: boolean,
): VolumeRecord | undefined {
  if (!claim.isUsable) return undefined;
  const reserved = reservedFor(index, claim);
  if (reserved !== undefined || isDelayed) return reserved;
  const size = claim.request ?? zeroSize;
  for (const volumeGroups of fewestModesFirst(index.volumes.groupsFor(claim))) {
    const lists = volumeGroups.map((group) => index.volumes.listOnAllNodes(group));
    const row = new VolumeWalk(index, lists, acceptance(index, claim)).next(size);
    if (row >= 0) return index.volumes.record(row);
  }
  return undefined;
}

/** Whether `matchClaim` could choose this available volume for the claim. */
export function couldServe(volume: VolumeRecord, claim: ClaimRecord): boolean {
  return (
    claim.isUsable &&
    mismatchOf(volume, claim) === undefined &&
    (claim.selector === undefined || matchesLabels(claim.selector, volume.labels))
  );
}

/** Why a volume can't serve the claim, with Kubernetes' own texts. */
export const mismatches = {
  Deleting: 'the volume is marked for deletion',
  TooSmall: 'requested PV is too small',
  OtherClass: 'storageClassName does not match',
  OtherAttributesClass: 'volumeAttributesClassName does not match',
  OtherMode: 'incompatible volumeMode',
  MissingAccessMode: 'incompatible accessMode',
} as const;

export type Mismatch = keyof typeof mismatches;

/** The first mismatch of a volume that the claim names. The claim's selector does not apply to a volume that the claim names. */
export function mismatchOf(volume: VolumeRecord, claim: ClaimRecord): Mismatch | undefined {
  if (volume.isDeleting) return 'Deleting';
  if (!volume.isUsable || compareSizes(volume.size, claim.request ?? zeroSize) < 0) return 'TooSmall';
  if (volume.className !== claim.className) return 'OtherClass';
  if (volume.attributesClass !== claim.attributesClass) return 'OtherAttributesClass';
  if (volume.mode !== claim.mode) return 'OtherMode';
  return offersModes(volume.accessModes, claim.accessModes) ? undefined : 'MissingAccessMode';
}

/** Unlike the scheduler, the PV controller checks the access modes of a reserved volume too. */
function reservedFor(index: ClusterIndex, claim: ClaimRecord): VolumeRecord | undefined {
  let best: VolumeRecord | undefined;
  for (const volume of index.volumes.claimedFor(claim.key)) {
    if (!servesAsPrebound(volume, claim) || !offersModes(volume.accessModes, claim.accessModes)) continue;
    if (best === undefined || compareSizes(volume.size, best.size) < 0) best = volume;
  }
  return best;
}

function fewestModesFirst(volumeGroups: readonly VolumeGroup[]): Iterable<readonly VolumeGroup[]> {
  const byCount = new Map<number, VolumeGroup[]>();
  for (const group of volumeGroups.toSorted((a, b) => modeCount(a.accessModes) - modeCount(b.accessModes))) {
    const count = modeCount(group.accessModes);
    byCount.set(count, [...(byCount.get(count) ?? []), group]);
  }
  return byCount.values();
}
