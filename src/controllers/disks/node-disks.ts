import type { Projected } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/disks/disk-schedule.ts';
import type { StorageNode } from '../../kube/disks/storage-node.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { Sweep } from '../../reconcile/sweep.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { type DiskCaches, isEmptySchedule, reportedDisks } from './disk-caches.ts';
import { retryIfStale } from './retry-if-stale.ts';

const apiVersion = apiVersionOf(diskSchedules);

/**
 * Keeps one DiskSchedule for each disk that a StorageNode reports, named by the disk's UUID. A disk that moves to another node takes its schedule
 * along. The schedule of a disk that is gone is deleted once it is empty. Keys are names of StorageNodes.
 */
export class NodeDisks {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;
  /** Names of schedules by the node in their spec. */
  readonly #schedulesOf = new Map<string, Set<string>>();

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    const keys = () => new Set([...caches.nodes.values()].map(({ metadata }) => metadata?.name ?? ''));
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys });
  }

  async run(signal: AbortSignal): Promise<void> {
    const loop = {
      controller: 'disks',
      caches: [this.#caches.schedules, this.#caches.nodes],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((name) => this.#reconcile(name, signal)),
      workers: 1,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  #listen(): readonly (() => void)[] {
    const { nodes, schedules } = this.#caches;
    const node = ({ metadata }: Pick<StorageNode, 'metadata'>) => this.#queue.add(metadata?.name ?? '');
    const forget = ({ metadata, spec }: Projected<DiskSchedule>) => {
      this.#schedulesOf.get(spec?.nodeID ?? '')?.delete(metadata?.name ?? '');
      this.#queue.add(spec?.nodeID ?? '');
    };
    const note = ({ metadata, spec }: Projected<DiskSchedule>) => {
      const nodeName = spec?.nodeID ?? '';
      const names = this.#schedulesOf.get(nodeName) ?? new Set();
      this.#schedulesOf.set(nodeName, names.add(metadata?.name ?? ''));
      this.#queue.add(nodeName);
    };
    const moved = (object: Projected<DiskSchedule>, old: Projected<DiskSchedule>) => {
      if (object.spec?.nodeID !== old.spec?.nodeID) forget(old);
      note(object);
    };
    return [
      nodes.addHandler({ added: node, updated: node, deleted: node }),
      schedules.addHandler({ added: note, updated: moved, deleted: forget }),
    ];
  }

  async #reconcile(nodeName: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const node = this.#caches.nodes.get(nodeName);
    const reported = node === undefined ? new Map<string, string>() : reportedDisks(node);
    return await retryIfStale(async () => {
      if (node !== undefined)
        for (const [uuid, name] of reported) await this.#ensure(node, { uuid, name }, signal);
      for (const uuid of [...(this.#schedulesOf.get(nodeName) ?? [])])
        if (!reported.has(uuid)) await this.#deleteIfEmpty(uuid, signal);
    });
  }

  async #ensure(
    node: Projected<StorageNode>,
    { uuid, name }: { readonly uuid: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<void> {
    const nodeID = node.metadata?.name ?? '';
    const client = this.#context.cluster.resource(diskSchedules);
    const found = this.#caches.schedules.get(uuid);
    if (found === undefined) {
      this.#sweep.beforeWrite();
      const body = { apiVersion, kind: 'DiskSchedule', metadata: { name: uuid }, spec: { name, nodeID } };
      await client.create(body, { signal }).catch((error: unknown) => {
        // Another process was faster; the cache will have it.
        if (!isReason(error, 'AlreadyExists')) throw error;
      });
      return;
    }
    if (found.spec?.nodeID === nodeID && found.spec.name === name) return;
    if (this.#isClaimedByAnother(found, nodeID)) return this.#reportDuplicate(node, found);
    const { uid, resourceVersion } = found.metadata ?? {};
    this.#sweep.beforeWrite();
    const body = { metadata: { uid, resourceVersion }, spec: { name, nodeID } };
    await client.patch({ name: uuid }, { type: 'merge', body }, { signal });
  }

  /** Whether the node in the schedule still reports the disk: then two disks have one UUID, and the first one keeps its schedule. */
  #isClaimedByAnother({ metadata, spec }: Projected<DiskSchedule>, nodeID: string): boolean {
    if (spec?.nodeID === nodeID) return false;
    const other = this.#caches.nodes.get(spec?.nodeID ?? '');
    return other !== undefined && reportedDisks(other).has(metadata?.name ?? '');
  }

  #reportDuplicate(node: Projected<StorageNode>, { metadata, spec }: Projected<DiskSchedule>): void {
    const disk = `disk ${metadata?.name}`;
    const note = `StorageNode ${spec?.nodeID} reports ${disk} too, and keeps its DiskSchedule; give one of the disks another UUID`;
    const regarding = referenceTo(node, { apiVersion, kind: 'StorageNode' });
    this.#context.events.record({
      regarding,
      type: 'Warning',
      reason: 'DuplicateDisk',
      action: 'KeepSchedule',
      note,
    });
  }

  async #deleteIfEmpty(uuid: string, signal: AbortSignal): Promise<void> {
    const schedule = this.#caches.schedules.get(uuid);
    if (schedule === undefined || schedule.metadata?.deletionTimestamp || !isEmptySchedule(schedule)) return;
    const { uid, resourceVersion } = schedule.metadata ?? {};
    this.#sweep.beforeWrite();
    // A request that arrived after this was read changes the version.
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    await this.#context.cluster
      .resource(diskSchedules)
      .delete({ name: uuid }, { preconditions, signal })
      .catch((error: unknown) => {
        if (!isReason(error, 'NotFound')) throw error;
      });
  }
}
