import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { claimClassName, isClaimRefTo, volumeClassName, volumeModeOf } from '../../../kube/volumes.ts';
import { isDeleting, nameOf, nanoBytes, type OracleCluster, requestOf } from './cluster.ts';
import { isReachable } from './reach.ts';

/** Volumes that are spoken for by the claim: their claimRef names it, and they would do. */
export function preboundVolumes(cluster: OracleCluster, claim: PersistentVolumeClaim): PersistentVolume[] {
  return cluster.volumes.filter(
    (volume) =>
      isClaimRefTo(volume.spec?.claimRef, claim) &&
      suits(volume, claim) &&
      (cluster.isUpstream
        ? volumeClassName(volume) === claimClassName(claim)
        : hasAccessModes(volume, claim)),
  );
}

/** Volumes that anybody may take and that would do for this claim on this node, or anywhere, the best first. */
export function freeVolumesFor(
  cluster: OracleCluster,
  claim: PersistentVolumeClaim,
  node?: Node,
): PersistentVolume[] {
  const selector = compileLabelSelector(claim.spec?.selector, 'spec.selector', 'everything');
  return cluster.volumes
    .filter(
      (volume) =>
        !volume.spec?.claimRef &&
        suits(volume, claim) &&
        volume.status?.phase === 'Available' &&
        selector.ok &&
        matchesLabels(selector.selector, volume.metadata?.labels) &&
        volumeClassName(volume) === claimClassName(claim) &&
        hasAccessModes(volume, claim) &&
        (node === undefined || isReachable(cluster, volume, node)),
    )
    .sort(compareVolumeObjects);
}

/** The tests that kube-scheduler makes even of a volume that is spoken for. */
function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const size = volumeSize(volume);
  return (
    size !== undefined &&
    size >= (requestOf(claim) ?? 0n) &&
    volumeModeOf(volume) === volumeModeOf(claim) &&
    (volume.spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '') &&
    !isDeleting(volume)
  );
}

export function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => offered.includes(mode));
}

/** Undefined for a size that can't be read; a volume that states none has none. */
export function volumeSize(volume: PersistentVolume): bigint | undefined {
  const stated = volume.spec?.capacity?.storage;
  return stated === undefined ? 0n : nanoBytes(stated);
}

/** Smaller first, then by name. */
export function compareVolumeObjects(a: PersistentVolume, b: PersistentVolume): number {
  const [left, right] = [volumeSize(a)!, volumeSize(b)!];
  if (left !== right) return left < right ? -1 : 1;
  return nameOf(a) === nameOf(b) ? 0 : nameOf(a) < nameOf(b) ? -1 : 1;
}
