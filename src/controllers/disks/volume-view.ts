import type { Projected } from '../../cluster/cluster.ts';
import { isEvictionRequested } from '../../engine/disks/disk-state.ts';
import { replicaHealth } from '../../engine/disks/volumes/replica-health.ts';
import { hadData } from '../../engine/disks/volumes/volume-health.ts';
import type {
  DiskEntry,
  RefusedExpansion,
  ReplicaView,
  VolumeView,
} from '../../engine/disks/volumes/volume-model.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { hasReplicaData, type Replica, removalMarkKey } from '../../kube/stowage/replica.ts';
import { acceptDataLossKey, type DiskVolume, isDataLossAccepted } from '../../kube/stowage/volume.ts';
import type { SeenSince } from '../../runtime/seen-since.ts';
import type { DiskCaches } from './disk-caches.ts';
import { entryIn } from './disk-entry.ts';
import type { DiskIndex } from './disk-index.ts';
import type { PendingRequests } from './pending-requests.ts';
import { rejectedDisks } from './rejected-disks.ts';

export interface VolumeViewOptions {
  readonly caches: DiskCaches;
  readonly book: DiskIndex;
  readonly pending: PendingRequests;
  /** Since when each replica is broken, or is not. */
  readonly broken: SeenSince<string>;
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
  const name = volume.metadata?.name ?? '';
  const all = [...replicas];
  const faultedAt = status?.faultedAt ?? formatTimestamp(options.nowMs);
  return {
    name,
    wantedBytes: spec?.size ?? 0,
    currentBytes: status?.size,
    numberOfReplicas: spec?.numberOfReplicas ?? 3,
    nodeSelector: spec?.nodeSelector ?? [],
    diskSelector: spec?.diskSelector ?? [],
    antiAffinity: { node, zone, disk },
    hadData: hadData(volume, all),
    isLossAccepted: isDataLossAccepted(volume),
    acceptCommand: `kubectl annotate --overwrite volumes.stowage.dev ${name} ${acceptDataLossKey}=${faultedAt}`,
    replicas: all.map((replica) => replicaView(replica, options)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    expansion: expansion && { bytes: expansion.size, state: expansion.state },
    refusedExpansion: options.refusedExpansion,
  };
}

function replicaView(replica: Projected<Replica>, options: VolumeViewOptions): ReplicaView {
  const { caches, book, pending, broken, nowMs } = options;
  const { metadata, spec } = replica;
  const name = metadata?.name ?? '';
  const health = replicaHealth(replica, book.get(spec?.diskID ?? '')?.state);
  const isBroken = health === 'failed' || health === 'unreachable';
  const ageMs = broken.ageMs(name, `${metadata?.uid} ${isBroken}`);
  const entry = entryOf(caches, name, spec?.diskID);
  return {
    name,
    sizeBytes: spec?.volumeSize ?? 0,
    isDeleting: metadata?.deletionTimestamp !== undefined,
    isRunningDesired: spec?.desiredState === 'running',
    hasData: hasReplicaData(replica),
    health,
    brokenMs: isBroken ? ageMs : undefined,
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
