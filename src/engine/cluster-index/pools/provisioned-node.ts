import type { ClaimRecord } from '../../records/claim-record.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { VolumeTable } from '../volumes/volume-table.ts';

/**
 * The node for which the volume of a bound claim was provisioned; empty if it is not known. Where the annotation `selected-node` has been removed by hand, it is any
 * node that the volume reaches, as long as the claim still names its pool.
 */
export function provisionedNode(
  { volumes, nodes }: { readonly volumes: VolumeTable; readonly nodes: NodeTable },
  { selectedNode, poolHint, volumeName }: ClaimRecord,
): string {
  const row = volumes.row(volumeName);
  if (selectedNode !== '' || poolHint === '' || row === undefined) return selectedNode;
  const [first] = volumes.topology(row).nodes.rows();
  return first === undefined ? '' : (nodes.record(first)?.key ?? '');
}
