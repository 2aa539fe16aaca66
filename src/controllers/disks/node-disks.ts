import type { Projected } from '../../cluster/cluster.ts';
import { capacitySettings, isEmptySchedule, reportedDisks } from '../../engine/disks/disk-objects.ts';
import { diskState } from '../../engine/disks/disk-state.ts';
import { NodeSchedules } from '../../engine/disks/node-schedules.ts';
import { scheduleIdentity } from '../../engine/disks/schedule-state.ts';
import { isReason } from '../../kube/api-error.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { retryIfStale } from '../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { Sweep } from '../../reconcile/sweep.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { DiskCaches } from './disk-caches.ts';
import { followNodeSchedules } from './follow-caches.ts';
import { RemovedDisksInUse } from './removed-disks-in-use.ts';
import { WritePace } from './retries/write-pace.ts';

const apiVersion = apiVersionOf(diskSchedules);

/**
 * Keeps one DiskSchedule for each disk that a StorageNode reports, named by the disk's UUID. The schedule of a disk that moves to another node
 * is updated. The schedule of a disk that no node reports is deleted once it is empty. Keys are names of StorageNodes.
 */
export class NodeDisks {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;
  readonly #schedules = new NodeSchedules();
  readonly #inUse: RemovedDisksInUse;
  /** The pace of each disk by UUID: an instance whose cache is behind deletes or reverts the schedule of a disk that has moved. */
  readonly #pace: WritePace;
  /** Names of the StorageNodes that report a disk, by its UUID. */
  readonly #reporters = new Map<string, Set<string>>();

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    this.#inUse = new RemovedDisksInUse(context.events);
    this.#pace = new WritePace(context.clock);
    const keys = () => new Set([...caches.nodes.values()].map(({ metadata }) => metadata?.name ?? ''));
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys });
  }

  async run(signal: AbortSignal): Promise<void> {
    const loop = {
      controller: 'disks',
      caches: [this.#caches.schedules, this.#caches.nodes, this.#caches.settings],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((name) => this.#reconcile(name, signal)),
      workers: 1,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  #listen(): readonly (() => void)[] {
    const { nodes, schedules } = this.#caches;
    const schedule = ({ metadata, spec }: Projected<DiskSchedule>) => {
      this.#queue.add(spec?.nodeID ?? '');
      this.#addReporters([metadata?.name ?? '']);
    };
    return [
      ...followNodeSchedules(this.#schedules, this.#caches),
      nodes.addHandler({
        added: (node) => this.#nodeChanged(node, {}),
        updated: (node, old) => this.#nodeChanged(node, old),
        deleted: (node) => this.#nodeChanged({}, node),
      }),
      schedules.addHandler({
        added: schedule,
        updated: (object, old) => {
          if (object.spec?.nodeID !== old.spec?.nodeID) schedule(old);
          schedule(object);
        },
        deleted: schedule,
      }),
    ];
  }

  /** Another node may report a disk that one node no longer has. */
  #nodeChanged(
    node: Pick<StorageNode, 'metadata' | 'status'>,
    old: Pick<StorageNode, 'metadata' | 'status'>,
  ): void {
    const name = (node.metadata ?? old.metadata)?.name ?? '';
    const [now, before] = [reportedDisks(node), reportedDisks(old)];
    for (const uuid of before.keys()) this.#reporters.get(uuid)?.delete(name);
    for (const uuid of now.keys())
      this.#reporters.set(uuid, (this.#reporters.get(uuid) ?? new Set()).add(name));
    for (const uuid of before.keys()) {
      if (this.#reporters.get(uuid)?.size !== 0) continue;
      this.#reporters.delete(uuid);
      this.#pace.delete(uuid);
    }
    this.#queue.add(name);
    this.#addReporters([...before.keys(), ...now.keys()]);
  }

  #addReporters(uuids: readonly string[]): void {
    for (const uuid of uuids) for (const name of this.#reporters.get(uuid) ?? []) this.#queue.add(name);
  }

  async #reconcile(nodeName: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const node = this.#caches.nodes.get(nodeName);
    const reported = node === undefined ? new Map<string, string>() : reportedDisks(node);
    return await retryIfStale(async () => {
      if (node !== undefined)
        for (const [uuid, name] of reported) await this.#ensure(node, { uuid, name }, signal);
      for (const uuid of this.#schedules.of(nodeName)) {
        const schedule = this.#caches.schedules.get(uuid);
        if (schedule === undefined) continue;
        this.#inUse.update(schedule, node);
        if (!reported.has(uuid)) await this.#deleteIfEmpty(schedule, signal);
      }
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
      if (!this.#mayWrite(uuid, nodeID)) return;
      this.#sweep.beforeWrite();
      const body = { apiVersion, kind: 'DiskSchedule', metadata: { name: uuid }, spec: { name, nodeID } };
      await client.create(body, { signal }).catch((error: unknown) => {
        // Another process has created it; the cache will show it.
        if (!isReason(error, 'AlreadyExists')) throw error;
      });
      return;
    }
    if (found.spec?.nodeID === nodeID && found.spec.name === name) return;
    if (this.#isClaimedByAnother(found, nodeID)) {
      // A node that is down still lists a disk that was moved.
      if (diskState(node, { uuid, name, nodeName: nodeID }, this.#settings).kind === 'ready')
        this.#reportDuplicate(node, found);
      return;
    }
    if (!this.#mayWrite(uuid, nodeID)) return;
    const { uid, resourceVersion } = found.metadata ?? {};
    this.#sweep.beforeWrite();
    const body = { metadata: { uid, resourceVersion }, spec: { name, nodeID } };
    await client.patch({ name: uuid }, { type: 'merge', body }, { signal });
  }

  /** If the result is false, the node is reconciled again when the write is allowed. */
  #mayWrite(uuid: string, nodeID: string): boolean {
    const waitMs = this.#pace.takeMs(uuid);
    if (waitMs > 0) this.#queue.addAfter(nodeID, waitMs);
    return waitMs === 0;
  }

  /**
   * Whether the disk also answers on the node in the schedule: then two disks have one UUID, and the first one keeps its schedule. A node that is
   * down keeps its last reported capacity, so a disk that does not answer there may have been moved here.
   */
  #isClaimedByAnother(schedule: Projected<DiskSchedule>, nodeID: string): boolean {
    const identity = scheduleIdentity(schedule);
    if (identity.nodeName === nodeID) return false;
    const other = this.#caches.nodes.get(identity.nodeName);
    const name = other === undefined ? undefined : reportedDisks(other).get(identity.uuid);
    return name !== undefined && diskState(other, { ...identity, name }, this.#settings).kind === 'ready';
  }

  get #settings() {
    return capacitySettings(this.#caches);
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

  async #deleteIfEmpty(schedule: Projected<DiskSchedule>, signal: AbortSignal): Promise<void> {
    const { name = '', uid, resourceVersion, deletionTimestamp } = schedule.metadata ?? {};
    if (deletionTimestamp !== undefined || !isEmptySchedule(schedule)) return;
    this.#sweep.beforeWrite();
    // A request that arrived after this was read changes the version.
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    await this.#context.cluster
      .resource(diskSchedules)
      .delete({ name }, { preconditions, signal })
      .catch((error: unknown) => {
        if (!isReason(error, 'NotFound')) throw error;
      });
  }
}
