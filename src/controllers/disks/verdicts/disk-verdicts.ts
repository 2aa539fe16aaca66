import type { Projected } from '../../../cluster/cluster.ts';
import { diskRemovedReason, overCommittedReason } from '../../../engine/disks/disk-conditions.ts';
import { isEmptySchedule } from '../../../engine/disks/disk-objects.ts';
import { evictedType, evictionBlockedReason, hasAgent } from '../../../engine/disks/eviction-condition.ts';
import { heldBytes } from '../../../engine/disks/held-bytes.ts';
import { NodeSchedules } from '../../../engine/disks/node-schedules.ts';
import {
  type ScheduleFacts,
  type ScheduleStatus,
  scheduleStatus,
} from '../../../engine/disks/schedule-status.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import {
  type DiskSchedule,
  type DiskScheduleStatus,
  diskScheduleFinalizer,
  diskSchedules,
} from '../../../kube/stowage/disk-schedule.ts';
import { hasReplicaData, type Replica } from '../../../kube/stowage/replica.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { removeFinalizer } from '../../../reconcile/remove-finalizer.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { Sweep } from '../../../reconcile/sweep.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { DiskCaches } from '../disk-caches.ts';
import { followNodeSchedules } from '../follow-caches.ts';
import { WritePace } from '../retries/write-pace.ts';
import { cachedData, storedData } from './data-on-disk.ts';
import { cachedHolds, storedHolds } from './grant-holds.ts';

const apiVersion = apiVersionOf(diskSchedules);
const workers = 4;

/** Decides the requests of every DiskSchedule, by its name. */
export class DiskVerdicts {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;
  readonly #nodeSchedules = new NodeSchedules();
  /** Names of the schedules whose disks are evicted. */
  readonly #evicting = new Set<string>();
  /** Names of the schedules with replicas that have more bytes than they request. */
  readonly #holding = new Set<string>();
  readonly #pace: WritePace;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    this.#pace = new WritePace(context.clock);
    const keys = () => [...caches.schedules.values()].map(({ metadata }) => metadata?.name ?? '');
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { schedules, nodes, replicas, images, settings, volumes } = this.#caches;
    const loop = {
      controller: 'disks',
      caches: [schedules, nodes, replicas, images, settings, volumes],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((name) => this.#reconcile(name, signal)),
      workers,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  #listen(): readonly (() => void)[] {
    const { schedules, nodes, replicas, images, settings, volumes } = this.#caches;
    const schedule = ({ metadata }: Pick<DiskSchedule, 'metadata'>) => this.#queue.add(metadata?.name ?? '');
    const node = (object: Projected<StorageNode>) => this.#addAll(this.#nodeSchedules.affectedBy(object));
    const nodeUpdated = (object: Projected<StorageNode>, old: Projected<StorageNode>) => {
      node(old);
      node(object);
      if (hasAgent(object) !== hasAgent(old)) this.#addAll(this.#evicting);
    };
    const nodeAddedOrDeleted = (object: Projected<StorageNode>) => {
      node(object);
      this.#addAll(this.#evicting);
    };
    const settingsChanged = () =>
      this.#addAll([...schedules.values()].map(({ metadata }) => metadata?.name ?? ''));
    // Verdicts depend on the data and the held bytes of replicas; the requests are in the schedule.
    const replica = (object: Projected<Replica>) => {
      const { diskID } = object.spec ?? {};
      if (!diskID) return;
      if (hasReplicaData(object) || this.#holding.has(diskID)) this.#queue.add(diskID);
    };
    const replicaUpdated = (object: Projected<Replica>, old: Projected<Replica>) => {
      replica(object);
      const isElsewhere = old.spec?.diskID !== object.spec?.diskID;
      if (isElsewhere) replica(old);
      if (isElsewhere || old.status?.healthyAt !== object.status?.healthyAt) this.#addAll(this.#evicting);
    };
    const replicaAddedOrDeleted = (object: Projected<Replica>) => {
      replica(object);
      this.#addAll(this.#evicting);
    };
    return [
      ...followNodeSchedules(this.#nodeSchedules, this.#caches),
      schedules.addHandler({ added: schedule, updated: schedule, deleted: schedule }),
      nodes.addHandler({ added: nodeAddedOrDeleted, updated: nodeUpdated, deleted: nodeAddedOrDeleted }),
      replicas.addHandler({
        added: replicaAddedOrDeleted,
        updated: replicaUpdated,
        deleted: replicaAddedOrDeleted,
      }),
      images.addHandler({
        added: ({ status }) => this.#addAll(Object.keys(status?.diskFileStatusMap ?? {})),
        updated: ({ status }) => this.#addAll(Object.keys(status?.diskFileStatusMap ?? {})),
      }),
      settings.addHandler({ added: settingsChanged, updated: settingsChanged, deleted: settingsChanged }),
      // A Volume has the reason why its replicas can't leave a disk, and the bytes that its disks must not release.
      volumes.addHandler({
        updated: (volume, old) => {
          if (heldBytes(volume) !== heldBytes(old)) this.#addAll(this.#holding);
          const [now, before] = [volume, old].map(({ status }) =>
            getCondition(status?.conditions, 'DiskAllocation'),
          );
          if (!isEqualWhenStored(now, before)) this.#addAll(this.#evicting);
        },
        deleted: () => this.#addAll(this.#holding),
      }),
    ];
  }

  #addAll(names: Iterable<string>): void {
    for (const name of names) this.#queue.add(name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const cached = this.#caches.schedules.get(name);
    if (cached === undefined) {
      this.#evicting.delete(name);
      this.#holding.delete(name);
      this.#pace.delete(name);
      return undefined;
    }
    if (this.#isSettled(cached)) return this.#requeueAfter(cached);
    // New requests are answered without a delay.
    const waitMs = isAnswered(cached) ? this.#pace.takeMs(name) : 0;
    if (waitMs > 0) return { afterMs: waitMs };
    const client = this.#context.cluster.resource(diskSchedules);
    const schedule = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (schedule === undefined) return undefined;
    return await retryIfStale(() => this.#write(schedule, signal));
  }

  #requeueAfter(schedule: Projected<DiskSchedule>): Requeue | undefined {
    const { changesAfterMs } = this.#statusOf(schedule);
    return changesAfterMs === undefined ? undefined : { afterMs: changesAfterMs };
  }

  /** Reads only the cache, so that an object without changes costs no API request. */
  #isSettled(schedule: Projected<DiskSchedule>): boolean {
    const { metadata } = schedule;
    const hasFinalizer = metadata?.finalizers?.includes(diskScheduleFinalizer) === true;
    const isEmpty = isEmptySchedule(schedule);
    if (metadata?.deletionTimestamp ? isEmpty && hasFinalizer : !isEmpty && !hasFinalizer) return false;
    return isEqualWhenStored(this.#statusOf(schedule).status, schedule.status ?? {});
  }

  /**
   * At most one write: the finalizer before the first verdict, the status, or the removal of the finalizer. Each carries the version that was
   * read, and its event leads to the next one.
   */
  async #write(schedule: DiskSchedule, signal: AbortSignal): Promise<void> {
    const { metadata } = schedule;
    const client = this.#context.cluster.resource(diskSchedules);
    const { uid, resourceVersion, name = '', finalizers = [], deletionTimestamp } = metadata ?? {};
    const isEmpty = isEmptySchedule(schedule);
    if (deletionTimestamp !== undefined && isEmpty) {
      if (!finalizers.includes(diskScheduleFinalizer)) return;
      this.#sweep.beforeWrite();
      return await removeFinalizer(client, schedule, diskScheduleFinalizer, signal);
    }
    if (deletionTimestamp === undefined && !isEmpty && !finalizers.includes(diskScheduleFinalizer)) {
      const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, diskScheduleFinalizer] } };
      this.#sweep.beforeWrite();
      await client.patch({ name }, { type: 'merge', body }, { signal });
      return;
    }
    const { cluster } = this.#context;
    const held = await storedHolds(cluster, schedule, signal);
    const hasData = await storedData(cluster, this.#caches, schedule, signal);
    const { status } = this.#statusOf(schedule, { held, hasData });
    if (isEqualWhenStored(status, schedule.status ?? {})) return;
    this.#sweep.beforeWrite();
    await client.update({ ...schedule, status }, { subresource: 'status', signal });
    this.#recordChanges(schedule, status);
  }

  #statusOf(schedule: DiskSchedule, facts = this.#cachedFacts(schedule)): ScheduleStatus {
    const result = scheduleStatus(schedule, this.#caches, this.#context.clock.nowMs(), facts);
    const name = schedule.metadata?.name ?? '';
    if (result.isHolding) this.#holding.add(name);
    else this.#holding.delete(name);
    if (getCondition(result.status.conditions, evictedType) === undefined) this.#evicting.delete(name);
    else this.#evicting.add(name);
    return result;
  }

  #cachedFacts(schedule: DiskSchedule): ScheduleFacts {
    return { held: cachedHolds(this.#caches, schedule), hasData: cachedData(this.#caches, schedule) };
  }

  /** Records Events about the conditions that this write changed. Only the process that wrote the status records them. */
  #recordChanges(schedule: DiskSchedule, status: DiskScheduleStatus): void {
    const reasonOf = (conditions: DiskScheduleStatus['conditions'], type: string) =>
      getCondition(conditions, type)?.reason;
    const messageOf = (type: string) => getCondition(status.conditions, type)?.message ?? '';
    const changes = [
      { type: 'Schedulable', reason: overCommittedReason, action: 'Decide' },
      { type: 'Schedulable', reason: diskRemovedReason, action: 'Decide' },
      { type: evictedType, reason: evictionBlockedReason, action: 'Evict' },
    ];
    for (const { type, reason, action } of changes) {
      if (reasonOf(status.conditions, type) !== reason) continue;
      if (reasonOf(schedule.status?.conditions, type) === reason) continue;
      const node = action === 'Evict' ? this.#caches.nodes.get(schedule.spec?.nodeID ?? '') : undefined;
      const regarding =
        node === undefined
          ? referenceTo(schedule, { apiVersion, kind: 'DiskSchedule' })
          : referenceTo(node, { apiVersion, kind: 'StorageNode' });
      const disk = node === undefined ? '' : `disk ${schedule.spec?.name}: `;
      this.#context.events.record({
        regarding,
        type: 'Warning',
        reason,
        action,
        note: `${disk}${messageOf(type)}`,
      });
    }
  }
}

function isAnswered({ metadata, status }: Projected<DiskSchedule>): boolean {
  return status?.observedGeneration === metadata?.generation && metadata?.deletionTimestamp === undefined;
}
