import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { Placement } from '../plan.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';
import type { ClaimBinding, Provision } from '../rules/framework/decisions.ts';
import { reaches } from '../rules/volume-binding/bound-volumes.ts';
import { compareSizes, zeroSize } from '../size.ts';

/** How far the cluster is with one volume of a placement that is being bound. */
export type VolumeProgress =
  | { readonly kind: 'bound' }
  /** Another component still has to act. Check again on its next event. */
  | { readonly kind: 'waiting' }
  /** The binding failed, with kube-scheduler's message. `isProvisioning`: the provisioner rejected this node. */
  | { readonly kind: 'failed'; readonly problem: string; readonly isProvisioning: boolean };

const bound: VolumeProgress = { kind: 'bound' };
const waiting: VolumeProgress = { kind: 'waiting' };

/** The progress of a claim that gets a new volume, after its selected node is written. */
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
    const volume = index.profile.completesBindings ? provisionedVolumeFor(index, claim) : undefined;
    return volume === undefined ? waiting : reachProgress(index, volume.key, nodeName);
  }
  // The provisioner removes the annotation to reject the node. Another value comes from another scheduler, and says nothing about this node.
  const isProvisioning = claim.selectedNode === '';
  return { kind: 'failed', problem: `provisioning failed for PVC "${claim.name}"`, isProvisioning };
}

/**
 * The volume that a provisioner has created for this claim, if it satisfies the claim. From then on they belong together, whatever
 * happens to the pod: the PV controller first looks for a volume whose claimRef names the claim, and binds it.
 */
export function provisionedVolumeFor(index: ClusterIndex, claim: ClaimRecord): VolumeRecord | undefined {
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
        !unusablePhases.has(volume.phase),
    );
}

const unusablePhases: ReadonlySet<string> = new Set(['Released', 'Failed']);

/** The progress of a claim that gets an existing volume, after the volume's claimRef is written. */
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

/** A claim that had its volume before the placement was decided, so that nothing has to be written for it. */
export type BoundClaim = Pick<ClaimBinding, 'claim' | 'claimUid' | 'volume'>;

/** The claims of the pod that have their volumes now. Those that the placement binds or provisions are not among them. */
export function boundClaimsOf(index: ClusterIndex, { pod }: Placement): readonly BoundClaim[] {
  return pod.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    return claim?.isBound ? [{ claim: key, claimUid: claim.uid, volume: claim.volumeName }] : [];
  });
}

/**
 * Why a claim that had its volume can no longer be used on the node; undefined if it can. The volume may show that the claim no longer exists
 * before the event of the claim comes.
 */
export function boundClaimProblem(
  index: ClusterIndex,
  { claim: key, claimUid, volume }: BoundClaim,
  nodeName: string,
): string | undefined {
  const claim = index.claims.get(key);
  const problem = claimProblem(claim, key, claimUid);
  if (claim === undefined || problem !== undefined) return problem;
  if (!claim.isBound || claim.volumeName !== volume)
    return `PersistentVolumeClaim ${key} is no longer bound to "${volume}"`;
  const record = index.volumes.get(volume);
  if (record === undefined) return `PersistentVolume ${volume} is gone`;
  const owner = record.claim?.uid ?? '';
  if (record.phase === 'Released' || (owner !== '' && owner !== claimUid))
    return `PersistentVolume ${volume} no longer belongs to PersistentVolumeClaim ${key}`;
  const reach = reachProgress(index, volume, nodeName);
  return reach.kind === 'failed' ? reach.problem : undefined;
}

/** Why the volumes that the placement binds or provisions cannot be used now, after all of them were bound; undefined if they can. */
export function newVolumesProblem(index: ClusterIndex, placement: Placement): string | undefined {
  const { node, bindings, provisions } = placement;
  const states = [
    ...bindings.map((binding) => ({ ...binding, state: bindingProgress(index, binding, node) })),
    ...provisions.map((provision) => ({ ...provision, state: provisionProgress(index, provision, node) })),
  ];
  for (const { claim, state } of states) {
    if (state.kind === 'failed') return state.problem;
    if (state.kind === 'waiting') return `PersistentVolumeClaim ${claim} is no longer bound`;
  }
  return undefined;
}

/** Why the pod can no longer be bound to its node, apart from its volumes; undefined if it can. */
export function podProblem(index: ClusterIndex, { pod, node }: Placement): string | undefined {
  const stored = index.pods.stored(pod.key);
  if (stored === undefined || stored.uid !== pod.uid) return `pod ${pod.key} is gone`;
  if (stored.isDeleting) return `pod ${pod.key} is being deleted`;
  if (stored.isFinished) return `pod ${pod.key} has finished`;
  if (stored.nodeName !== '' && stored.nodeName !== node)
    return `pod ${pod.key} is already assigned to node "${stored.nodeName}"`;
  if (index.nodes.row(node) === undefined) return `node "${node}" not found`;
  return undefined;
}

/** A claim that is being deleted gets no volume: the protection finalizer doesn't keep it while its pod has no node. */
function claimProblem(claim: ClaimRecord | undefined, key: string, uid: string): string | undefined {
  if (claim?.uid !== uid) return `PersistentVolumeClaim ${key} is gone`;
  if (claim.isDeleting) return `PersistentVolumeClaim ${key} is being deleted`;
  if (claim.isLost) return `PersistentVolumeClaim ${key} has lost its volume "${claim.volumeName}"`;
  if (claim.isRollingBack) return `PersistentVolumeClaim ${key} is being rolled back`;
  return undefined;
}

/** The node must reach the volume of the claim. A provisioner may have created it elsewhere. */
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
