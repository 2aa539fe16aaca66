import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { ownerGroupOf } from '../../cluster-index/pools/spread-group.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/** Where the volumes of one owner are, and which claim has the volume there. */
export interface OccupiedPlaces {
  /** By node row. A volume that several nodes reach is on none of them. */
  readonly nodes: ReadonlyMap<number, string>;
  /** By the value of the zone label. A volume that several zones reach is in none of them. */
  readonly zones: ReadonlyMap<string, string>;
}

/** The places of all volumes of the owner except those of the pod itself, which are on the pod's own node by necessity. */
export function placesOfSiblings(index: ClusterIndex, group: string, pod: PodRecord): OccupiedPlaces {
  const own = new Set(pod.claims.map(({ key }) => key));
  const nodes = new Map<number, string>();
  const zones = new Map<string, string>();
  for (const claim of index.claims.maybeOwnedBy(group)) {
    if (own.has(claim.key) || ownerGroupOf(index, claim) !== group) continue;
    const rows = reachedFrom(index, claim);
    if (rows.length === 1) nodes.set(rows[0]!, claim.key);
    const reached = new Set(rows.map((row) => zoneOf(index, row)));
    const [zone] = reached;
    if (reached.size === 1 && zone !== undefined) zones.set(zone, claim.key);
  }
  return { nodes, zones };
}

export function zoneOf(index: ClusterIndex, row: number): string | undefined {
  return index.nodes.record(row)?.labels[wellKnownLabels.zone];
}

/** The nodes that reach the claim's volume, or the one for which it is being provisioned; empty if neither exists yet. */
function reachedFrom(index: ClusterIndex, claim: ClaimRecord): readonly number[] {
  const volume = claim.volumeName || index.volumes.heldFor(claim.key)?.key;
  const row = volume === undefined ? undefined : index.volumes.row(volume);
  if (row !== undefined) return index.volumes.topology(row).nodes.rows();
  const nodeName = claim.selectedNode || index.promises.get(claim.key)?.nodeName;
  const node = nodeName === undefined ? undefined : index.nodes.row(nodeName);
  return node === undefined ? [] : [node];
}
