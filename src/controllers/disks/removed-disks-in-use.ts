import type { Projected } from '../../cluster/cluster.ts';
import { isEmptySchedule, reportedDisks } from '../../engine/disks/disk-objects.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { forceRemovalKey, type StorageNode } from '../../kube/stowage/storage-node.ts';
import type { EventRecorder } from '../../reconcile/event-recorder.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';

const apiVersion = apiVersionOf(diskSchedules);

/** Records an Event if a disk can't be removed because its schedule has entries: once, until that changes. */
export class RemovedDisksInUse {
  readonly #events: Pick<EventRecorder, 'record'>;
  /** UUIDs of the disks that an Event was recorded about. */
  readonly #recorded = new Set<string>();

  constructor(events: Pick<EventRecorder, 'record'>) {
    this.#events = events;
  }

  /** Called whenever the schedule or its StorageNode has changed. */
  update(schedule: Projected<DiskSchedule>, node: Projected<StorageNode> | undefined): void {
    const uuid = schedule.metadata?.name ?? '';
    const removal = isEmptySchedule(schedule) ? undefined : removalOf(schedule, node);
    if (removal === undefined) {
      this.#recorded.delete(uuid);
      return;
    }
    if (this.#recorded.has(uuid)) return;
    this.#recorded.add(uuid);
    const { replicas = {}, backingImages = {} } = schedule.spec ?? {};
    const count = Object.keys(replicas).length + Object.keys(backingImages).length;
    const remedy = `bring the disk back, or move or delete them; to give up a disk that does not answer, annotate the DiskSchedule with ${forceRemovalKey}=true`;
    this.#events.record({
      regarding:
        node === undefined
          ? referenceTo(schedule, { apiVersion, kind: 'DiskSchedule' })
          : referenceTo(node, { apiVersion, kind: 'StorageNode' }),
      type: 'Warning',
      reason: 'DiskInUse',
      action: 'KeepSchedule',
      note: `disk ${schedule.spec?.name} (${uuid}) ${removal}, and has ${count} replicas and images: its DiskSchedule stays until they are gone; ${remedy}`,
    });
  }
}

/** How a user has tried to remove the disk; undefined if none has. */
function removalOf(
  { metadata, spec }: Projected<DiskSchedule>,
  node: Projected<StorageNode> | undefined,
): string | undefined {
  if (metadata?.deletionTimestamp !== undefined) return 'is to lose its DiskSchedule';
  if (node === undefined) return `belongs to StorageNode ${spec?.nodeID}, which does not exist`;
  if (!reportedDisks(node).has(metadata?.name ?? ''))
    return `is no longer reported by StorageNode ${spec?.nodeID}`;
  return Object.hasOwn(node.spec?.disks ?? {}, spec?.name ?? '')
    ? undefined
    : `is not in spec.disks of StorageNode ${spec?.nodeID}`;
}
