import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { hasReplicaData, type Replica, removalMarkKey } from '../../../kube/stowage/replica.ts';
import { acceptDataLossKey, type DiskVolume, isDataLossAccepted } from '../../../kube/stowage/volume.ts';
import type { DiskCandidate } from '../choose-disk.ts';
import type { DiskIndex } from '../disk-index.ts';
import type { DiskObjectMaps } from '../disk-objects.ts';
import { isEvictionRequested } from '../disk-state.ts';
import { rejectedDisks } from '../rejected-disks.ts';
import { replicaHealth } from './replica-health.ts';
import { hadData } from './volume-health.ts';
import {
  type DiskEntry,
  entryIn,
  type RefusedExpansion,
  type ReplicaView,
  type VolumeView,
} from './volume-model.ts';

export interface VolumeViewOptions {
  readonly objects: Pick<DiskObjectMaps, 'schedules' | 'nodes'>;
  readonly diskIndex: DiskIndex;
  /** Without them, no request is overdue, and no replica has been broken for any time. */
  readonly ages?: ObservedAges;
  readonly nowMs: number;
  /** The refusal that is still in force. */
  readonly refusedExpansion: RefusedExpansion | undefined;
}

/** For how long the reader has seen requests without a verdict, and replicas broken. */
export interface ObservedAges {
  /** Whether the disk has not answered the request within the time that a requester waits. */
  isOverdue(request: string, entry: DiskEntry | undefined, disk: DiskCandidate | undefined): boolean;
  /** For how long the replica has been broken; undefined if it is not. */
  brokenMs(replica: Replica, isBroken: boolean): number | undefined;
}

/** Reads the view of a volume that its plan is made from. */
export function volumeView(
  volume: DiskVolume,
  replicas: Iterable<Replica>,
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

function replicaView(replica: Replica, options: VolumeViewOptions): ReplicaView {
  const { objects, diskIndex, ages, nowMs } = options;
  const { metadata, spec } = replica;
  const name = metadata?.name ?? '';
  const disk = diskIndex.get(spec?.diskID ?? '');
  const health = replicaHealth(replica, disk?.state);
  const isBroken = health === 'failed' || health === 'unreachable';
  const brokenMs = ages?.brokenMs(replica, isBroken) ?? (isBroken ? 0 : undefined);
  const schedule = objects.schedules.get(spec?.diskID ?? '');
  const entry = schedule === undefined ? undefined : entryIn(schedule, name);
  return {
    name,
    sizeBytes: spec?.volumeSize ?? 0,
    isDeleting: metadata?.deletionTimestamp !== undefined,
    isRunningDesired: spec?.desiredState === 'running',
    hasData: hasReplicaData(replica),
    health,
    brokenMs,
    isMarkedForRemoval: metadata?.annotations?.[removalMarkKey] !== undefined,
    nodeName: spec?.nodeID,
    place: placeOf(replica, options),
    entry,
    isOverdue: ages?.isOverdue(name, entry, disk) ?? false,
    rejectedBy: rejectedDisks(replica, diskIndex, nowMs),
  };
}

function placeOf({ spec }: Replica, { objects, diskIndex }: VolumeViewOptions): ReplicaView['place'] {
  if (spec?.diskID === undefined) return undefined;
  const disk = diskIndex.get(spec.diskID);
  const nodeName = disk?.nodeName ?? spec.nodeID ?? '';
  const isEvicted = isEvictionRequested(objects.nodes.get(nodeName), disk?.name ?? '');
  return { uuid: spec.diskID, nodeName, zone: disk?.zone ?? '', isEvicted };
}
