import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { type DiskObjects, diskObjectsOf, readDiskObjects } from '../../queries/disks/disk-objects.ts';
import { unreadNote } from '../../queries/drives/drive-objects.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import type { Log } from '../../runtime/log.ts';
import { serverError } from '../errors/server-error.ts';
import type { ConnectFlags } from './connect.ts';
import { connectToRead } from './load-cluster.ts';

/** The disks of a live cluster. */
export async function readDrainDisks(
  { kubeconfig, context }: ConnectFlags,
  log: Log,
): Promise<DiskObjects | undefined> {
  await using cluster = await connectToRead({ kubeconfig, context }, log);
  try {
    return await disksIn(cluster);
  } catch (error) {
    throw serverError(error, cluster);
  }
}

/** Undefined if the server does not have the kinds. Without the right to read them there are none, and a note says so. */
export async function disksIn(cluster: Cluster): Promise<DiskObjects | undefined> {
  try {
    return await readDiskObjects(cluster);
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    if (!isReason(error, 'Forbidden')) throw error;
    const note = unreadNote('storagenodes or diskschedules', 'what is on the disks of the node is not known');
    return { ...diskObjectsOf({ nodes: [], schedules: [], settings: [], volumes: [] }, []), notes: [note] };
  }
}

/** The disks among objects of files; undefined if there are none. */
export function disksOfView({ disks, snapshot }: ClusterView): DiskObjects | undefined {
  if (disks === undefined) return undefined;
  return diskObjectsOf(disks, [...snapshot.values('PersistentVolume')]);
}
