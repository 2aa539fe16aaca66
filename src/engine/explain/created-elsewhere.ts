import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { VolumeRow } from '../cluster-index/volumes/volume-table.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import { reaches } from '../rules/volume-binding/bound-volumes.ts';
import { truncatedList } from './truncated-list.ts';

/** This many nodes are named; the others are counted. */
const namedMax = 3;

/**
 * Says that the driver created the volume of the claim where the selected node cannot reach it; undefined if that is not so. CSI allows it:
 * a request names segments that the driver may choose from, unless the provisioner has `--strict-topology`.
 */
export function createdElsewhere(
  { key, isBound, volumeName, selectedNode }: ClaimRecord,
  index: ClusterIndex,
): string | undefined {
  const row = index.volumes.row(volumeName);
  const node = index.nodes.row(selectedNode);
  if (!isBound || row === undefined || node === undefined || reaches(index, row, node)) return undefined;
  const where = reachableFrom(row, index);
  return `node ${selectedNode} was selected for claim ${key}, but the driver created its volume ${volumeName} where only ${where} can reach it`;
}

/** The same with what an administrator can do. Only a person knows whether the volume has data that matters. */
export function createdElsewhereAdvice(claim: ClaimRecord, index: ClusterIndex): string | undefined {
  const text = createdElsewhere(claim, index);
  return text && `${text}; ${remedy}`;
}

const remedy =
  'make one of these nodes fit the pod; or, if the volume has no data, delete the pod and the claim, so that another volume is created. --strict-topology of the provisioner keeps new volumes where their node is';

/** The nodes that can reach the volume, as text. */
export function reachableFrom(volumeRow: VolumeRow, index: ClusterIndex): string {
  const rows = index.nodes.rowsByName.filter((node) => reaches(index, volumeRow, node));
  const names = rows.slice(0, namedMax).map((node) => index.nodes.record(node)!.key);
  return truncatedList(names, rows.length) || 'no node';
}
