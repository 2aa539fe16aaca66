import type { Condition, KubeObject } from '../../kube/api/meta.ts';
import { getCondition, setCondition } from '../../kube/conditions.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { formatTimestamp, parseTimestamp } from '../../kube/go/timestamp.ts';
import type { DiskSchedule, DiskScheduleStatus } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { type DiskUserKind, decideDisk } from './decide-disk.ts';
import { diskConditions } from './disk-conditions.ts';
import { capacitySettings, type DiskObjectMaps, type ObjectsByName, reportedDisks } from './disk-objects.ts';
import { type DiskIdentity, type DiskState, isEvictionRequested } from './disk-state.ts';
import { evictedType, evictionCondition } from './eviction-condition.ts';
import { removedDisk, scheduleIdentity, scheduleState } from './schedule-state.ts';

/**
 * If another disk has the name of a disk that does not answer, the old one is abandoned after this time. It may have been moved to a node that has
 * not reported it yet.
 */
const replacedMs = 5 * 60_000;

export interface ScheduleStatus {
  readonly status: DiskScheduleStatus;
  /** After this time the result may differ without any event. */
  readonly changesAfterMs: number | undefined;
  /** Whether a replica has more bytes than it requests, because its volume holds them. */
  readonly isHolding: boolean;
}

/** The bytes that a replica keeps on a disk, even if less is requested for it there. */
export type HeldBytes = (replica: string) => number;

/** Whether data is on a disk that was there before its request could be answered, for example after an upgrade. */
export type HasData = (kind: DiskUserKind, name: string) => boolean;

/** The facts that decide whether a disk may release bytes, and whether it must grant more than its limit. */
export interface ScheduleFacts {
  readonly held: HeldBytes;
  readonly hasData: HasData;
}

/**
 * Computes the status of a DiskSchedule: the verdicts on its requests, the sum, and the conditions. A status that is written needs
 * facts that were read after the schedule.
 */
export function scheduleStatus(
  schedule: DiskSchedule,
  objects: DiskObjectMaps,
  nowMs: number,
  facts: ScheduleFacts,
): ScheduleStatus {
  const { metadata, spec, status } = schedule;
  const identity = scheduleIdentity(schedule);
  const node = objects.nodes.get(identity.nodeName);
  const known = scheduleState(schedule, node, capacitySettings(objects));
  const remainingMs = isReplaced(known, identity, node, objects)
    ? untilAbandonedMs(status, nowMs)
    : undefined;
  const disk = remainingMs === 0 ? abandoned(known, identity) : known;
  const decision = decideDisk({
    spec: spec ?? {},
    status: status ?? {},
    disk,
    hasData: facts.hasData,
    heldBytes: facts.held,
    createdAt: (kind, name) => objectsOf(objects, kind).get(name)?.metadata?.creationTimestamp ?? '',
  });
  const evicted = isEvictionRequested(node, identity.name) ? [evictionCondition(schedule, objects)] : [];
  const conditions = [...diskConditions(disk, decision, identity), ...evicted];
  const { storageLimit, ...rest } = decision;
  const limit = storageLimit === undefined ? {} : { storageLimit };
  return {
    status: {
      observedGeneration: Number(metadata?.generation ?? 0),
      ...rest,
      ...limit,
      conditions: withConditions(status?.conditions ?? [], conditions, nowMs),
    },
    changesAfterMs: remainingMs === 0 ? undefined : remainingMs,
    isHolding: Object.entries(decision.replicas).some(
      ([name, { scheduledSize = 0 }]) => scheduledSize > (ownValue(spec?.replicas, name) ?? 0),
    ),
  };
}

function withConditions(
  before: readonly Condition[],
  conditions: readonly Condition[],
  nowMs: number,
): readonly Condition[] {
  const isEvicting = conditions.some(({ type }) => type === evictedType);
  const kept = before.filter(({ type }) => isEvicting || type !== evictedType);
  const now = formatTimestamp(nowMs);
  return conditions.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    kept,
  );
}

/** Whether no node reports the disk, and its node reports another disk with its name. */
function isReplaced(
  state: DiskState,
  { uuid, name }: DiskIdentity,
  node: StorageNode | undefined,
  { nodes }: DiskObjectMaps,
): boolean {
  if (state.kind === 'ready' || state.isRemoved === true) return false;
  const found = ownValue(node?.status?.diskStatus, name)?.diskUUID;
  if (found === undefined || found === uuid) return false;
  return ![...nodes.values()].some((each) => reportedDisks(each).has(uuid));
}

/** Counted from when the disk was first found not ready, which is stored: so every instance abandons it at the same time. */
function untilAbandonedMs(status: DiskScheduleStatus | undefined, nowMs: number): number {
  const ready = getCondition(status?.conditions, 'Ready');
  const sinceMs = ready?.status === 'False' ? parseTimestamp(ready.lastTransitionTime) : undefined;
  return Math.max(0, (sinceMs ?? nowMs) + replacedMs - nowMs);
}

function abandoned(state: DiskState, { name }: DiskIdentity): DiskState {
  const message = state.kind === 'unknown' ? state.message : '';
  return removedDisk(message, `another disk ${name} has taken its place`);
}

function objectsOf(objects: DiskObjectMaps, kind: DiskUserKind): ObjectsByName<KubeObject> {
  return kind === 'replicas' ? objects.replicas : objects.images;
}
