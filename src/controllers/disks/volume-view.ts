import type { Projected } from '../../cluster/cluster.ts';
import { isEvictionRequested } from '../../engine/disks/disk-state.ts';
import { replicaHealth } from '../../engine/disks/replica-health.ts';
import type {
  DiskEntry,
  RefusedExpansion,
  ReplicaView,
  VolumeView,
} from '../../engine/disks/volume-model.ts';
import { hasReplicaData, type Replica, removalMarkKey } from '../../kube/disks/replica.ts';
import type { DiskVolume } from '../../kube/disks/volume.ts';
import type { DiskBook } from './disk-book.ts';
import type { DiskCaches } from './disk-caches.ts';
import { entryIn } from './disk-entry.ts';
import type { PendingRequests } from './pending-requests.ts';
import { rejectedDisks } from './rejected-disks.ts';

export interface VolumeViewOptions {
  readonly caches: DiskCaches;
  readonly book: DiskBook;
  readonly pending: PendingRequests;
  readonly nowMs: number;
  /** The refusal that is still in force. */
  readonly refusedExpansion: RefusedExpansion | undefined;
}

/** What the plan of a volume needs, from the caches. */
export function volumeView(
  volume: Projected<DiskVolume>,
  replicas: Iterable<Projected<Replica>>,
  options: VolumeViewOptions,
): VolumeView {
  const { spec, status } = volume;
  const { expansion } = status ?? {};
  const { node = 'hard', zone = 'soft', disk = 'soft' } = spec?.antiAffinity ?? {};
  return {
    name: volume.metadata?.name ?? '',
    wantedBytes: spec?.size ?? 0,
    currentBytes: status?.size,
    numberOfReplicas: spec?.numberOfReplicas ?? 3,
    nodeSelector: spec?.nodeSelector ?? [],
    diskSelector: spec?.diskSelector ?? [],
    antiAffinity: { node, zone, disk },
    replicas: [...replicas]
      .map((replica) => replicaView(replica, options))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    expansion: expansion && { bytes: expansion.size, state: expansion.state },
    refusedExpansion: options.refusedExpansion,
  };
}

function replicaView(replica: Projected<Replica>, options: VolumeViewOptions): ReplicaView {
  const { caches, book, pending, nowMs } = options;
  const { metadata, spec } = replica;
  const name = metadata?.name ?? '';
  const entry = entryOf(caches, name, spec?.diskID);
  return {
    name,
    sizeBytes: spec?.volumeSize ?? 0,
    isDeleting: metadata?.deletionTimestamp !== undefined,
    isRunningDesired: spec?.desiredState === 'running',
    hasData: hasReplicaData(replica),
    health: replicaHealth(replica, book.get(spec?.diskID ?? '')?.state),
    isMarkedForRemoval: metadata?.annotations?.[removalMarkKey] !== undefined,
    nodeName: spec?.nodeID,
    place: placeOf(replica, options),
    entry,
    isOverdue: pending.isOverdue(name, entry, book.get(spec?.diskID ?? '')),
    rejectedBy: rejectedDisks(replica, book, nowMs),
  };
}

function entryOf(
  { schedules }: DiskCaches,
  replica: string,
  diskID: string | undefined,
): DiskEntry | undefined {
  const schedule = schedules.get(diskID ?? '');
  return schedule === undefined ? undefined : entryIn(schedule, replica);
}

function placeOf({ spec }: Projected<Replica>, { caches, book }: VolumeViewOptions): ReplicaView['place'] {
  if (spec?.diskID === undefined) return undefined;
  const disk = book.get(spec.diskID);
  const nodeName = disk?.nodeName ?? spec.nodeID ?? '';
  const isEvicted = isEvictionRequested(caches.nodes.get(nodeName), disk?.name ?? '');
  return { uuid: spec.diskID, nodeName, zone: disk?.zone ?? '', isEvicted };
}
