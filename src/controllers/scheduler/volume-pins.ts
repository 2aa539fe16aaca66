import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import { everyNode } from '../../engine/records/node-matcher.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { VolumeRecord } from '../../engine/records/volume-record.ts';
import { reaches } from '../../engine/rules/volume-binding/bound-volumes.ts';

/** Whether a volume of the pod, or one that is being created or bound for it, excludes nodes: what others take on the rest may leave it none. */
export function isPinned(index: ClusterIndex, pod: PodRecord): boolean {
  return pod.claims.some(({ key }) => {
    const claim = index.claims.get(key);
    return claim !== undefined && (isSelected(claim) || volumeOf(index, claim) !== undefined);
  });
}

/** The same for a pod that was decided for the node: every later attempt has to end there, or where the same volume can be reached. */
export function isPinnedTo(index: ClusterIndex, pod: PodRecord, nodeName: string): boolean {
  const node = index.nodes.row(nodeName);
  return pod.claims.some(({ key }) => {
    const claim = index.claims.get(key);
    if (claim === undefined || node === undefined) return false;
    if (isSelected(claim)) return claim.selectedNode === nodeName;
    const row = index.volumes.row(volumeOf(index, claim)?.key ?? '');
    return row !== undefined && reaches(index, row, node);
  });
}

/** A provisioner is creating the volume for its selected node. Kubernetes does not remove the annotation afterwards. */
function isSelected({ isBound, selectedNode }: ClaimRecord): boolean {
  return !isBound && selectedNode !== '';
}

/** The volume that the claim has, or that a scheduler has reserved for it; undefined if there is none, or if every node reaches it. */
function volumeOf(
  index: ClusterIndex,
  { key, uid, isBound, volumeName }: ClaimRecord,
): VolumeRecord | undefined {
  const volume = isBound
    ? index.volumes.get(volumeName)
    : index.volumes.claimedFor(key).find(({ claim }) => claim?.uid === uid);
  return volume?.nodes === everyNode ? undefined : volume;
}
