import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { Placement } from '../plan.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';
import type { ClaimBinding, Provision } from '../rules/framework/decisions.ts';
import { reaches } from '../rules/volume-binding/bound-volumes.ts';
import { compareSizes, zeroSize } from '../size.ts';

/** How far the cluster is with one volume of a placement that is being carried out. */
export type VolumeProgress =
  | { readonly kind: 'bound' }
  /** Others are at work on it; their next event tells more. */
  | { readonly kind: 'waiting' }
  /** It will not come about, in kube-scheduler's words. `isProvisioning`: the provisioner said no for this node. */
  | { readonly kind: 'failed'; readonly problem: string; readonly isProvisioning: boolean };

const bound: VolumeProgress = { kind: 'bound' };
const waiting: VolumeProgress = { kind: 'waiting' };

/** A claim that gets a new volume, after its selected node has been written. */
export function provisionProgress(
  index: ClusterIndex,
  { claim: key, claimUid }: Provision,
  nodeName: string,
): VolumeProgress {
  const claim = index.claims.get(key);
  const problem = claimProblem(claim, key, claimUid);
  if (claim === undefined || problem !== undefined) return failed(problem ?? '');
  if (claim.isBound) return reachProgress(index, claim.volumeName, nodeName);
  if (claim.selectedNode === nodeName) {
    const made = index.profile.completesBindings ? volumeMadeFor(index, claim) : undefined;
    return made === undefined ? waiting : reachProgress(index, made.key, nodeName);
  }
  // Taken off, it is the provisioner's no. Another node there is another scheduler's doing, and no fault of this one.
  const isProvisioning = claim.selectedNode === '';
  return { kind: 'failed', problem: `provisioning failed for PVC "${claim.name}"`, isProvisioning };
}

/**
 * The volume that a provisioner has made for this very claim, and that suits it. From then on the two belong together whatever becomes
 * of the pod: the PV controller looks first for the volume that names a claim, and has only to write it down.
 */
export function volumeMadeFor(index: ClusterIndex, claim: ClaimRecord): VolumeRecord | undefined {
  const { uid, className, mode, attributesClass, accessModes, request = zeroSize } = claim;
  return index.volumes
    .claimedFor(claim.key)
    .find(
      (volume) =>
        volume.claim?.uid === uid &&
        volume.className === className &&
        volume.mode === mode &&
        volume.attributesClass === attributesClass &&
        (volume.accessModes & accessModes) === accessModes &&
        compareSizes(volume.size, request) >= 0 &&
        !volume.isDeleting &&
        !endedPhases.has(volume.phase),
    );
}

const endedPhases: ReadonlySet<string> = new Set(['Released', 'Failed']);

/** A claim that gets an existing volume, after the volume's claimRef has been written. */
export function bindingProgress(
  index: ClusterIndex,
  { claim: key, claimUid, volume: volumeName }: ClaimBinding,
  nodeName: string,
): VolumeProgress {
  const claim = index.claims.get(key);
  const problem = claimProblem(claim, key, claimUid);
  if (claim === undefined || problem !== undefined) return failed(problem ?? '');
  if (claim.volumeName !== '' && claim.volumeName !== volumeName) {
    return failed(`PersistentVolumeClaim ${key} was bound to "${claim.volumeName}", not to "${volumeName}"`);
  }
  const volume = index.volumes.get(volumeName);
  if (volume === undefined) return failed(`PersistentVolume ${volumeName} is gone`);
  if (volume.claim?.claimKey !== key || volume.claim.uid !== claimUid)
    return failed(`ClaimRef got reset for pv "${volumeName}"`);
  const reach = reachProgress(index, volumeName, nodeName);
  return reach.kind === 'failed' || claim.isBound ? reach : waiting;
}

/** Whether the pod can still go where it was to go, its volumes apart. */
export function podProblem(index: ClusterIndex, { pod, node }: Placement): string | undefined {
  const stored = index.pods.stored(pod.key);
  if (stored === undefined || stored.uid !== pod.uid) return `pod ${pod.key} is gone`;
  if (stored.isDeleting) return `pod ${pod.key} is being deleted`;
  if (stored.isFinished) return `pod ${pod.key} is over`;
  if (stored.nodeName !== '' && stored.nodeName !== node)
    return `pod ${pod.key} is already assigned to node "${stored.nodeName}"`;
  if (index.nodes.row(node) === undefined) return `node "${node}" not found`;
  return undefined;
}

/** A claim on its way out gets no volume: nothing protects it while its pod has no node. */
function claimProblem(claim: ClaimRecord | undefined, key: string, uid: string): string | undefined {
  if (claim?.uid !== uid) return `PersistentVolumeClaim ${key} is gone`;
  if (claim.isDeleting) return `PersistentVolumeClaim ${key} is being deleted`;
  if (claim.isLost) return `PersistentVolumeClaim ${key} has lost its volume "${claim.volumeName}"`;
  if (claim.isRollingBack) return `PersistentVolumeClaim ${key} is being rolled back`;
  return undefined;
}

/** The volume that the claim got must be one that the node can use; who made it may have had other ideas. */
function reachProgress(index: ClusterIndex, volumeName: string, nodeName: string): VolumeProgress {
  const row = index.volumes.row(volumeName);
  const node = index.nodes.row(nodeName);
  if (row === undefined) return waiting;
  if (node === undefined) return failed(`node "${nodeName}" not found`);
  return reaches(index, row, node)
    ? bound
    : failed(`pv "${volumeName}" node affinity doesn't match node "${nodeName}"`);
}

function failed(problem: string): VolumeProgress {
  return { kind: 'failed', problem, isProvisioning: false };
}
