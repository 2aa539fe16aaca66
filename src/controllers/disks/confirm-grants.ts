import type { Cluster } from '../../cluster/cluster.ts';
import { conflict } from '../../kube/api-error.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/disks/disk-schedule.ts';
import { type Replica, replicas } from '../../kube/disks/replica.ts';
import { belongsTo } from '../../kube/disks/replica-volume.ts';
import { type DiskVolume, type DiskVolumeStatus, diskVolumes } from '../../kube/disks/volume.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/**
 * Confirms that every replica of the volume has been granted the expansion, by what is stored and not by the caches. The volume requested the expansion
 * in a version that was read before, and the commit replaces that version: it fails if the expansion was withdrawn meanwhile. Until then no disk takes
 * back what is granted here (`verdicts/grant-holds.ts`). A replica that is created later starts with the larger size, or not at all (`VolumeSteps`).
 */
export async function confirmGrants(
  cluster: Cluster,
  owner: DiskVolume,
  expansion: NonNullable<DiskVolumeStatus['expansion']>,
  signal: AbortSignal,
): Promise<void> {
  const { name: volume = '' } = owner.metadata ?? {};
  const { items } = await cluster
    .resource(replicas)
    .list({ fieldSelector: `spec.volumeName=${volume}`, signal });
  for (const replica of items) {
    if (replica.metadata?.deletionTimestamp !== undefined || !belongsTo(replica, owner)) continue;
    const name = replica.spec?.diskID ?? '';
    const schedule =
      name === ''
        ? undefined
        : await undefinedIfNotFound(cluster.resource(diskSchedules).get({ name }, { signal }));
    if (!isGranted(replica, schedule, expansion))
      throw conflict(
        diskVolumes,
        volume,
        `replica ${replica.metadata?.name} has not been granted its expansion`,
      );
  }
}

function isGranted(
  { metadata }: Replica,
  schedule: DiskSchedule | undefined,
  { size }: NonNullable<DiskVolumeStatus['expansion']>,
): boolean {
  const name = metadata?.name ?? '';
  const { spec, status } = schedule ?? {};
  const granted = ownValue(status?.replicas, name)?.scheduledSize ?? 0;
  return ownValue(spec?.replicas, name) === size && granted >= size;
}
