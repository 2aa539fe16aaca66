import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { claimClassName, isClaimRefTo, volumeClassName, volumeModeOf } from '../../../kube/volumes.ts';
import { isDeleting, nanoBytes, type OracleCluster, objectName, requestOf } from './cluster.ts';
import { isReachable } from './reach.ts';

/** The volumes whose claimRef names the claim and that satisfy it. */
export function preboundVolumes(cluster: OracleCluster, claim: PersistentVolumeClaim): PersistentVolume[] {
  return cluster.volumes.filter(
    (volume) =>
      isClaimRefTo(volume.spec?.claimRef, claim) &&
      satisfies(volume, claim) &&
      (cluster.isUpstream
        ? volumeClassName(volume) === claimClassName(claim)
        : hasAccessModes(volume, claim)),
  );
}

/** The free volumes that satisfy the claim on this node, or on any node, the best first. */
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
        satisfies(volume, claim) &&
        volume.status?.phase === 'Available' &&
        selector.ok &&
        matchesLabels(selector.selector, volume.metadata?.labels) &&
        volumeClassName(volume) === claimClassName(claim) &&
        hasAccessModes(volume, claim) &&
        (node === undefined || isReachable(cluster, volume, node)),
    )
    .sort(compareVolumeObjects);
}

/** The checks that kube-scheduler makes even for a volume whose claimRef names the claim. */
function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
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

/** Undefined if the size is unreadable; zero if the volume states none. */
export function volumeSize(volume: PersistentVolume): bigint | undefined {
  const stated = volume.spec?.capacity?.storage;
  return stated === undefined ? 0n : nanoBytes(stated);
}

/** Smaller first, then by name. */
export function compareVolumeObjects(a: PersistentVolume, b: PersistentVolume): number {
  const [left, right] = [volumeSize(a)!, volumeSize(b)!];
  if (left !== right) return left < right ? -1 : 1;
  return objectName(a) === objectName(b) ? 0 : objectName(a) < objectName(b) ? -1 : 1;
}
