import type { ClusterChange, ObjectChange } from '../../../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../../engine/cluster-index/cluster-index.ts';
import type { PodRecord } from '../../../engine/records/pod-record.ts';

export function claimKey(key: string): string {
  return `claim ${key}`;
}

export function volumeKey(name: string): string {
  return `volume ${name}`;
}

/** The keys to reconcile after a change. A free volume wakes one more claim: see `WaitingClaims`. */
export function keysWokenBy(change: ClusterChange, index: ClusterIndex): readonly string[] {
  switch (change.kind) {
    case 'PersistentVolumeClaim':
      return wokenByClaim(change, index);
    case 'PersistentVolume':
      return wokenByVolume(change, index);
    case 'StorageClass':
      return wokenByClass(change, index);
    case 'Pod':
      return wokenByPod(change, index);
    default:
      return [];
  }
}

/** The claim, and if it took a volume or no longer exists, the volumes that are or were its own. */
function wokenByClaim(
  { before, after }: ObjectChange<'PersistentVolumeClaim'>,
  index: ClusterIndex,
): readonly string[] {
  const key = (after ?? before)?.key ?? '';
  const own = after === undefined ? [] : [claimKey(key)];
  if (before?.uid === after?.uid && before?.volumeName === after?.volumeName) return own;
  const named = [before, after].flatMap((record) =>
    record === undefined || record.volumeName === '' ? [] : [record.volumeName],
  );
  const reserved = index.volumes.claimedFor(key).map((volume) => volume.key);
  return [...own, ...[...named, ...reserved].map(volumeKey)];
}

/** The volume, the claims that name it, and the claim that it names, unless they are one completely bound pair. */
function wokenByVolume(
  { before, after }: ObjectChange<'PersistentVolume'>,
  index: ClusterIndex,
): readonly string[] {
  const name = (after ?? before)?.key ?? '';
  const keys = after === undefined ? [] : [volumeKey(name)];
  const isChanged = before?.accessModes !== after?.accessModes;
  for (const key of index.claims.namingVolume(name)) {
    const claim = index.claims.get(key);
    const isFullyBound = claim?.isBound === true && !claim.isLost && after?.claim?.uid === claim.uid;
    if (!isFullyBound || isChanged) keys.push(claimKey(key));
  }
  for (const reference of [before?.claim, after?.claim]) {
    const claim = reference && index.claims.get(reference.claimKey);
    if (claim !== undefined && !claim.isBound) keys.push(claimKey(claim.key));
  }
  return keys;
}

/** Claims without a volume, of this class or of none: it may be the default now. Classes change so rarely that all claims are checked. */
function wokenByClass(
  { before, after }: ObjectChange<'StorageClass'>,
  index: ClusterIndex,
): readonly string[] {
  const name = (after ?? before)?.key ?? '';
  const keys: string[] = [];
  for (const claim of index.claims.records()) {
    const isConcerned = claim.className === name || claim.className === '';
    if (isConcerned && claim.volumeName === '' && !claim.isBound) keys.push(claimKey(claim.key));
  }
  return keys;
}

/** A delayed claim waits for a pod that waits for a node. */
function wokenByPod({ before, after }: ObjectChange<'Pod'>, index: ClusterIndex): readonly string[] {
  if (isWaiting(before) === isWaiting(after)) return [];
  return ((after ?? before)?.claims ?? []).flatMap(({ key }) => {
    const claim = index.claims.get(key);
    const isDelayed = claim !== undefined && index.classes.get(claim.className)?.isDelayed === true;
    return isDelayed && !claim.isBound ? [claimKey(key)] : [];
  });
}

function isWaiting(pod: PodRecord | undefined): boolean {
  return pod !== undefined && pod.nodeName === '' && !pod.isFinished;
}
