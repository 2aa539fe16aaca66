import type { Cluster } from '../../../cluster/cluster.ts';
import type { DiskUserKind } from '../../../engine/disks/decide-disk.ts';
import type { HasData } from '../../../engine/disks/schedule-status.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import { hasReplicaData, type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { DiskCaches } from '../disk-caches.ts';

/** Reads the caches, which is enough to see that nothing is left to do, and not enough to grant bytes that the disk may not have. */
export function cachedData(caches: DiskCaches, { metadata }: DiskSchedule): HasData {
  const uuid = metadata?.name ?? '';
  return (kind, name) =>
    kind === 'replicas'
      ? isReplicaOn(caches.replicas.get(name), uuid)
      : isImageOn(caches.images.get(name), uuid);
}

/**
 * Reads the stored objects of the requests that the disk would grant for their data. A cache that is behind may have the data of a deleted object with the same
 * name. `schedule` was read before, and the verdicts are written with its version. The request of a deleted object is removed before the object is, so the
 * request is for the replica or image that is read here, or the write fails.
 */
export async function storedData(
  cluster: Cluster,
  caches: DiskCaches,
  schedule: DiskSchedule,
  signal: AbortSignal,
): Promise<HasData> {
  const { metadata, spec, status } = schedule;
  const uuid = metadata?.name ?? '';
  const isCached = cachedData(caches, schedule);
  const isStored: Readonly<Record<DiskUserKind, (name: string) => Promise<boolean>>> = {
    replicas: async (name) =>
      isReplicaOn(await undefinedIfNotFound(cluster.resource(replicas).get({ name }, { signal })), uuid),
    backingImages: async (name) =>
      isImageOn(await undefinedIfNotFound(cluster.resource(backingImages).get({ name }, { signal })), uuid),
  };
  const found = new Set<string>();
  for (const kind of ['replicas', 'backingImages'] as const)
    for (const [name, asked] of Object.entries(spec?.[kind] ?? {})) {
      const granted = ownValue(status?.[kind], name)?.scheduledSize ?? 0;
      if (asked > granted && isCached(kind, name) && (await isStored[kind](name)))
        found.add(`${kind}/${name}`);
    }
  return (kind, name) => found.has(`${kind}/${name}`);
}

function isReplicaOn(replica: Replica | undefined, uuid: string): boolean {
  return replica?.spec?.diskID === uuid && hasReplicaData(replica);
}

function isImageOn(image: BackingImage | undefined, uuid: string): boolean {
  return ownValue(image?.status?.diskFileStatusMap, uuid)?.state === 'ready';
}
