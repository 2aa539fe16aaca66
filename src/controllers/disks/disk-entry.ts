import type { Cluster } from '../../cluster/cluster.ts';
import type { DiskEntry } from '../../engine/disks/volumes/volume-model.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/** What a schedule has about a replica: its request, and the verdict on it. */
export function entryIn({ spec, status }: Pick<DiskSchedule, 'spec' | 'status'>, replica: string): DiskEntry {
  return { askedBytes: ownValue(spec?.replicas, replica), verdict: ownValue(status?.replicas, replica) };
}

/** The same by what is stored; undefined if the replica has no disk, or its disk no schedule. */
export async function readEntry(
  cluster: Cluster,
  { metadata, spec }: Replica,
  signal: AbortSignal,
): Promise<DiskEntry | undefined> {
  const { diskID: name = '' } = spec ?? {};
  if (name === '') return undefined;
  const schedule = await undefinedIfNotFound(cluster.resource(diskSchedules).get({ name }, { signal }));
  return schedule === undefined ? undefined : entryIn(schedule, metadata?.name ?? '');
}
