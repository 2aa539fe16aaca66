import type { Projected } from '../../cluster/cluster.ts';
import { type DiskUserKind, decideDisk } from '../../engine/disks/decide-disk.ts';
import { diskConditions } from '../../engine/disks/disk-conditions.ts';
import { type DiskIdentity, diskState } from '../../engine/disks/disk-state.ts';
import { setCondition } from '../../kube/conditions.ts';
import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import {
  type DiskSchedule,
  type DiskScheduleStatus,
  diskScheduleFinalizer,
  diskSchedules,
} from '../../kube/disks/disk-schedule.ts';
import type { Replica } from '../../kube/disks/replica.ts';
import type { StorageNode } from '../../kube/disks/storage-node.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { Sweep } from '../../reconcile/sweep.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { type DiskCaches, isEmptySchedule, reportedDisks } from './disk-caches.ts';
import { retryIfStale } from './retry-if-stale.ts';

const workers = 4;

/** Decides the requests of every DiskSchedule, by its name. */
export class DiskVerdicts {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    const keys = () => [...caches.schedules.values()].map(({ metadata }) => metadata?.name ?? '');
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { schedules, nodes, replicas, images } = this.#caches;
    const loop = {
      controller: 'disks',
      caches: [schedules, nodes, replicas, images],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((name) => this.#reconcile(name, signal)),
      workers,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  #listen(): readonly (() => void)[] {
    const { schedules, nodes, replicas, images } = this.#caches;
    const schedule = ({ metadata }: Pick<DiskSchedule, 'metadata'>) => this.#queue.add(metadata?.name ?? '');
    const node = (object: Pick<StorageNode, 'status'>) => {
      for (const uuid of reportedDisks(object).keys()) this.#queue.add(uuid);
    };
    const nodeUpdated = (object: Projected<StorageNode>, old: Projected<StorageNode>) => {
      node(old);
      node(object);
    };
    // Only evidence of data matters here: requests are in the schedule itself.
    const replica = ({ spec, status }: Projected<Replica>) => {
      if (spec?.diskID && (status?.healthyAt ?? status?.failedAt)) this.#queue.add(spec.diskID);
    };
    return [
      schedules.addHandler({ added: schedule, updated: schedule }),
      nodes.addHandler({ added: node, updated: nodeUpdated, deleted: node }),
      replicas.addHandler({ added: replica, updated: replica }),
      images.addHandler({
        added: ({ status }) => this.#imageChanged(Object.keys(status?.diskFileStatusMap ?? {})),
        updated: ({ status }) => this.#imageChanged(Object.keys(status?.diskFileStatusMap ?? {})),
      }),
    ];
  }

  #imageChanged(disks: readonly string[]): void {
    for (const disk of disks) this.#queue.add(disk);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const cached = this.#caches.schedules.get(name);
    if (cached === undefined || this.#isSettled(cached)) return undefined;
    const client = this.#context.cluster.resource(diskSchedules);
    const schedule = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (schedule === undefined) return undefined;
    return await retryIfStale(() => this.#write(schedule, signal));
  }

  /** From the cache alone, so that an object that needs nothing costs no request. */
  #isSettled(schedule: Projected<DiskSchedule>): boolean {
    const { metadata } = schedule;
    const hasFinalizer = metadata?.finalizers?.includes(diskScheduleFinalizer) === true;
    const isEmpty = isEmptySchedule(schedule);
    if (metadata?.deletionTimestamp ? isEmpty && hasFinalizer : !isEmpty && !hasFinalizer) return false;
    return isEqualWhenStored(this.#statusOf(schedule), schedule.status ?? {});
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
    const status = this.#statusOf(schedule);
    if (isEqualWhenStored(status, schedule.status ?? {})) return;
    this.#sweep.beforeWrite();
    await client.update({ ...schedule, status }, { subresource: 'status', signal });
  }

  #statusOf({ metadata, spec, status }: DiskSchedule): DiskScheduleStatus {
    const uuid = metadata?.name ?? '';
    const identity: DiskIdentity = { uuid, name: spec?.name ?? '', nodeName: spec?.nodeID ?? '' };
    const reported = diskState(this.#caches.nodes.get(identity.nodeName), identity);
    const isDeleting = metadata?.deletionTimestamp !== undefined;
    const closed = { reason: 'DiskRemoved', message: 'the DiskSchedule is being deleted' } as const;
    const disk = isDeleting && reported.kind === 'ready' ? { ...reported, closed } : reported;
    const decision = decideDisk({
      spec: spec ?? {},
      status: status ?? {},
      disk,
      hasData: (kind, name) => this.#hasData(uuid, kind, name),
      createdAt: (kind, name) => this.#cacheOf(kind).get(name)?.metadata?.creationTimestamp ?? '',
    });
    const now = formatTimestamp(this.#context.clock.nowMs());
    const conditions = diskConditions(disk, decision, identity).reduce(
      (list, condition) => setCondition(list, condition, now),
      status?.conditions ?? [],
    );
    const { storageLimit, ...rest } = decision;
    const limit = storageLimit === undefined ? {} : { storageLimit };
    return { observedGeneration: Number(metadata?.generation ?? 0), ...rest, ...limit, conditions };
  }

  /** Data on this disk was there before its request could be answered, for example after an upgrade. */
  #hasData(uuid: string, kind: DiskUserKind, name: string): boolean {
    if (kind === 'replicas') {
      const { spec, status } = this.#caches.replicas.get(name) ?? {};
      return spec?.diskID === uuid && (status?.healthyAt ?? status?.failedAt) !== undefined;
    }
    const copies = this.#caches.images.get(name)?.status?.diskFileStatusMap ?? {};
    return Object.hasOwn(copies, uuid) && copies[uuid]?.state === 'ready';
  }

  #cacheOf(kind: DiskUserKind): DiskCaches['replicas'] | DiskCaches['images'] {
    return kind === 'replicas' ? this.#caches.replicas : this.#caches.images;
  }
}
