import type { Cluster } from '../../../cluster/cluster.ts';
import { heldBytes } from '../../../engine/disks/held-bytes.ts';
import type { HeldBytes } from '../../../engine/disks/schedule-status.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import { type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { type DiskVolume, diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { DiskCaches } from '../disk-caches.ts';

/** Reads the caches, which is enough to see that nothing is left to do, and not enough to release bytes. */
export function cachedHolds({ replicas: known, volumes }: DiskCaches, { metadata }: DiskSchedule): HeldBytes {
  return (name) => {
    const replica = known.get(name);
    if (replica === undefined || !isOn(replica, metadata?.name)) return 0;
    return heldBy(replica, volumes.get(replica.spec?.volumeName ?? ''));
  };
}

/**
 * Reads the stored objects of the replicas that request less than they were granted. `schedule` was read before, and the verdicts are written with its version.
 * Therefore a disk never releases a grant that counted for the commit of an expansion, however late this write arrives:
 *
 * 1. The commit was confirmed by a version of the schedule that requests the larger size, read after the volume had requested the expansion. The version
 *    here requests less, so it is another one.
 * 2. If it is older, the schedule has changed since, and this write fails.
 * 3. If it is newer, the volume is read here after it had requested the expansion. Either it holds the bytes. Or it has withdrawn the expansion: then the
 *    commit fails, because it replaces the version of the volume that requests it.
 *
 * Writes of requests need no such check. A late one, or one of another program, changes the requested bytes, and not the granted ones.
 */
export async function storedHolds(
  cluster: Cluster,
  { metadata, spec, status }: DiskSchedule,
  signal: AbortSignal,
): Promise<HeldBytes> {
  const held = new Map<string, number>();
  for (const [name, asked] of Object.entries(spec?.replicas ?? {})) {
    if (asked >= (ownValue(status?.replicas, name)?.scheduledSize ?? 0)) continue;
    const replica = await undefinedIfNotFound(cluster.resource(replicas).get({ name }, { signal }));
    const volumeName = replica?.spec?.volumeName;
    if (replica === undefined || volumeName === undefined || !isOn(replica, metadata?.name)) continue;
    const volume = await undefinedIfNotFound(
      cluster.resource(diskVolumes).get({ name: volumeName }, { signal }),
    );
    held.set(name, heldBy(replica, volume));
  }
  return (name) => held.get(name) ?? 0;
}

/**
 * The size of the replica counts before it is started: a start that another instance has sent may be stored between the reading here and the write of the
 * verdicts. Our requests are never smaller than that.
 */
function heldBy({ spec }: Replica, volume: Pick<DiskVolume, 'status'> | undefined): number {
  return Math.max(spec?.volumeSize ?? 0, heldBytes(volume ?? {}));
}

function isOn({ spec }: Replica, diskID: string | undefined): boolean {
  return spec?.diskID === diskID;
}
