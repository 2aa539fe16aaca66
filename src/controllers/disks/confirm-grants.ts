import type { Cluster } from '../../cluster/cluster.ts';
import { conflict } from '../../kube/api-error.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { type DiskVolume, type DiskVolumeStatus, diskVolumes } from '../../kube/stowage/volume.ts';
import { readEntry } from './read-entry.ts';

/**
 * Reads from the API server, not from the caches, and throws a conflict unless every replica of the volume has been granted the expansion. The volume requested the expansion
 * in a version that was read before, and the commit replaces that version: it fails if the expansion was withdrawn meanwhile. Until then no disk
 * releases the bytes that are granted here (`verdicts/grant-holds.ts`). A replica that is created later starts with the larger size, or not at all (`VolumeSteps`).
 */
export async function confirmGrants(
  cluster: Cluster,
  owner: DiskVolume,
  { size }: NonNullable<DiskVolumeStatus['expansion']>,
  signal: AbortSignal,
): Promise<void> {
  const { name: volume = '' } = owner.metadata ?? {};
  const { items } = await cluster
    .resource(replicas)
    .list({ fieldSelector: `spec.volumeName=${volume}`, signal });
  for (const replica of items) {
    if (replica.metadata?.deletionTimestamp !== undefined || !belongsTo(replica, owner)) continue;
    const { askedBytes, verdict } = (await readEntry(cluster, replica, signal)) ?? {};
    if (askedBytes !== size || (verdict?.scheduledSize ?? 0) < size)
      throw conflict(
        diskVolumes,
        volume,
        `replica ${replica.metadata?.name} has not been granted its expansion`,
      );
  }
}
