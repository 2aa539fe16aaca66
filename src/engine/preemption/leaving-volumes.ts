import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { lookUpInlinePools, lookUpPools, type PoolLookup } from '../cluster-index/pools/pool-lookup.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PoolRecord } from '../records/pool-record.ts';
import { sizeOfBytes } from '../size.ts';
import { inlineCapacityOf, returnInlineCapacity } from './inline-capacity.ts';

/**
 * Whether a drive of the node that new volumes of the pod may use still has inline volumes of pods that have ended. The driver deletes them a while later, so a
 * preemptor may have to wait for these bytes although no victim is left.
 */
export function hasReleasingVolumes(pod: PodRecord, node: string, index: ClusterIndex): boolean {
  return drivesFor(pod, node, index).some((drive) => bytesOf(drive, index, hasEnded) > 0);
}

/**
 * For a dry run: the pools have again what inline volumes of pods take that are leaving the node, or have ended. The capacity reports of drives are computed from their
 * ledgers, so it does no harm if the dry run has removed these pods already, and returned what they take.
 */
export function returnLeavingVolumes(pod: PodRecord, node: string, index: ClusterIndex): void {
  const drives = drivesFor(pod, node, index);
  const keys = new Set(drives.map(({ key }) => key));
  for (const other of [...index.pods.onNode(node)].filter(({ isDeleting }) => isDeleting)) {
    const { promises, included } = inlineCapacityOf(other, index);
    const elsewhere = included.filter(({ poolKey }) => !keys.has(poolKey));
    returnInlineCapacity({ promises, included: elsewhere }, index);
  }
  for (const pool of drives) {
    const { capacityBytes, usedBytes } = pool.drive!;
    const leaving = bytesOf(pool, index, (owner) => owner === undefined || owner.isDeleting);
    const free = sizeOfBytes(capacityBytes - usedBytes + leaving);
    index.setPoolCapacityReports(pool.key, free, free);
  }
}

/** Whether the pod no longer exists, or has finished and is being deleted. Volumes of other finished pods may stay for as long as the pod does. */
function hasEnded(owner: PodRecord | undefined): boolean {
  return owner === undefined || (owner.isDeleting && owner.isFinished);
}

/** The bytes in the ledger of the drive of pods with this property. A pod is undefined if it no longer exists. */
function bytesOf(
  { drive }: PoolRecord,
  { pods }: ClusterIndex,
  isCounted: (owner: PodRecord | undefined) => boolean,
): number {
  let sum = 0;
  for (const [uid, { podKey, sizes }] of drive!.pods) {
    const owner = pods.get(podKey);
    if (isCounted(owner?.uid === uid ? owner : undefined)) for (const bytes of sizes) sum += bytes;
  }
  return sum;
}

/** The drives of the node that take volumes, and that a new volume of the pod may use. */
function drivesFor(pod: PodRecord, nodeName: string, index: ClusterIndex): readonly PoolRecord[] {
  const { nodes, pools, classes, claims } = index;
  const node = nodes.row(nodeName);
  if (node === undefined || !pools.hasDrives) return [];
  const lookups: PoolLookup[] = pod.inlineVolumes.map((volume) => lookUpInlinePools(index, volume));
  for (const { key } of pod.claims) {
    const claim = claims.get(key);
    const provisioner = claim?.isBound === false ? classes.get(claim.className)?.provisioner : undefined;
    if (provisioner !== undefined) lookups.push(lookUpPools(index, provisioner, claim!.className));
  }
  const rows = new Set<number>();
  for (const found of lookups)
    if (found.kind === 'pools' && found.entry.isOfDrives)
      for (const row of pools.partitionFor(found.entry, nodes.rowCount).itemsAt(node)) rows.add(row);
  return [...rows].map((row) => pools.record(row)).filter(({ free }) => free !== undefined);
}
