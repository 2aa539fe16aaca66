import type { Cluster } from '../../cluster/cluster.ts';
import { scheduleState } from '../../engine/disks/schedule-state.ts';
import { replicaHealth } from '../../engine/disks/volumes/replica-health.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { type Replica, removalMarkKey, replicas } from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/**
 * Reads from the API server, not from the caches, whether another replica of the volume is healthy. The caller has marked the replica before (`removalMarkKey`) and
 * deletes the marked version afterwards. If two instances remove two replicas at the same time, each of them has stored its mark before it reads here, so at
 * least one of them sees the mark of the other, and does not delete.
 */
export async function hasHealthySibling(
  cluster: Cluster,
  { volume, replica }: { readonly volume: DiskVolume; readonly replica: string },
  signal: AbortSignal,
): Promise<boolean> {
  const fieldSelector = `spec.volumeName=${volume.metadata?.name}`;
  const { items } = await cluster.resource(replicas).list({ fieldSelector, signal });
  for (const other of items) {
    const { name, annotations } = other.metadata ?? {};
    if (name === replica || annotations?.[removalMarkKey] !== undefined || !belongsTo(other, volume))
      continue;
    if (await isHealthyNow(cluster, other, signal)) return true;
  }
  return false;
}

async function isHealthyNow(cluster: Cluster, replica: Replica, signal: AbortSignal): Promise<boolean> {
  const name = replica.spec?.diskID;
  if (name === undefined) return false;
  const schedule = await undefinedIfNotFound(cluster.resource(diskSchedules).get({ name }, { signal }));
  const nodeName = schedule?.spec?.nodeID;
  if (schedule === undefined || nodeName === undefined) return false;
  const node = await undefinedIfNotFound(cluster.resource(storageNodes).get({ name: nodeName }, { signal }));
  return replicaHealth(replica, scheduleState(schedule, node)) === 'healthy';
}
