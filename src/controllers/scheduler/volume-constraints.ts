import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { createdElsewhere, reachableFrom } from '../../engine/explain/created-elsewhere.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { reaches } from '../../engine/rules/volume-binding/bound-volumes.ts';

/**
 * Which of the pod's own volumes exclude nodes that would fit otherwise, as a phrase for each claim; empty if none does. The rules about
 * volumes run after those about resources, taints and labels, so a node that they refused had passed the others.
 */
export function volumeConstraints({ pod, reasons }: Refusal, index: ClusterIndex): readonly string[] {
  if (!reasons.has('BoundVolumeUnreachable') && !reasons.has('ClaimPinnedElsewhere')) return [];
  return pod.claims.flatMap(({ key }) => {
    const claim = index.claims.get(key);
    if (claim === undefined) return [];
    return claim.isBound ? boundVolumeConstraint(claim, index) : selectedNodeConstraint(claim, index);
  });
}

function boundVolumeConstraint(claim: ClaimRecord, index: ClusterIndex): readonly string[] {
  const { key, volumeName } = claim;
  const row = index.volumes.row(volumeName);
  if (row === undefined) return [];
  if (index.nodes.rowsByName.every((node) => reaches(index, row, node))) return [];
  const bound = `claim ${key} is bound to volume ${volumeName}, which only ${reachableFrom(row, index)} can reach`;
  return [createdElsewhere(claim, index) ?? bound];
}

function selectedNodeConstraint({ key, selectedNode }: ClaimRecord, index: ClusterIndex): readonly string[] {
  if (selectedNode === '') return [];
  const gone = index.nodes.row(selectedNode) === undefined ? ', which is gone' : '';
  return [`the volume of claim ${key} is being provisioned for node ${selectedNode}${gone}`];
}
