import type { Projected } from '../../cluster/cluster.ts';
import { capacitySettings } from '../../engine/disks/disk-objects.ts';
import { scheduleState } from '../../engine/disks/schedule-state.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import {
  diskAgentFinalizer,
  hasReplicaData,
  type Replica,
  replicaFinalizer,
  replicas,
} from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { diskVolumes, hasVolumeData, isDataLossAccepted } from '../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { removeFinalizers } from '../../reconcile/remove-finalizer.ts';
import { retryIfStale } from '../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { DiskCaches } from './disk-caches.ts';

const workers = 4;
/** The polling interval until the loop over Volumes has recorded that the volume had data. */
const recordPollMs = 500;

/**
 * Releases the bytes of a Replica that is being deleted, and then removes its finalizers. It does nothing else with schedules. The finalizer is removed only after
 * the release is stored, so a crash between the two repeats the release, which changes nothing then.
 */
export class ReplicaRelease {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { replicas: cached, schedules, nodes, settings } = this.#caches;
    const replica = (object: Projected<Replica>) => {
      if (this.#isReleasable(object)) this.#queue.add(object.metadata?.name ?? '');
    };
    const named = (schedule: Projected<DiskSchedule>) => {
      for (const name of Object.keys(schedule.spec?.replicas ?? {})) {
        const found = cached.get(name);
        if (found !== undefined) replica(found);
      }
    };
    const loop = {
      controller: 'disks',
      caches: [cached, schedules, nodes, settings],
      listen: () => [
        cached.addHandler({ added: replica, updated: replica }),
        // A disk may have been abandoned; its agent removes nothing any more.
        schedules.addHandler({ updated: named, deleted: named }),
      ],
      queue: this.#queue,
      reconcile: (name: string) => this.#reconcile(name, signal),
      workers,
    };
    await runLoop(this.#context, loop, signal);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const client = this.#context.cluster.resource(replicas);
    const replica = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (replica === undefined || !this.#isReleasable(replica)) return undefined;
    if (await this.#isUnrecorded(replica, signal)) return { afterMs: recordPollMs };
    return await retryIfStale(async () => {
      const { diskID } = replica.spec ?? {};
      if (diskID !== undefined) await this.#release(name, diskID, signal);
      await removeFinalizers(client, replica, [replicaFinalizer, diskAgentFinalizer], signal);
    });
  }

  /**
   * A replica with data stays until its volume records that it had data (`robustness`). Otherwise the volume would look like a new one when its last replica is
   * deleted, and begin with an empty replica that counts as healthy.
   */
  async #isUnrecorded(replica: Replica, signal: AbortSignal): Promise<boolean> {
    if (!hasReplicaData(replica)) return false;
    const name = replica.spec?.volumeName ?? '';
    const volume = await undefinedIfNotFound(
      this.#context.cluster.resource(diskVolumes).get({ name }, { signal }),
    );
    if (volume === undefined || volume.metadata?.deletionTimestamp !== undefined) return false;
    return belongsTo(replica, volume) && !hasVolumeData(volume) && !isDataLossAccepted(volume);
  }

  /**
   * An agent that stores the replica's data adds another finalizer: the bytes are free after it has deleted the data. If the disk no longer exists, neither does
   * the data, with or without an agent.
   */
  #isReleasable(replica: Replica): boolean {
    const { metadata, spec } = replica;
    if (metadata?.deletionTimestamp === undefined) return false;
    const finalizers = metadata.finalizers ?? [];
    if (!finalizers.includes(diskAgentFinalizer)) return finalizers.includes(replicaFinalizer);
    return spec?.diskID === undefined || this.#isRemoved(spec.diskID);
  }

  #isRemoved(diskID: string): boolean {
    const schedule = this.#caches.schedules.get(diskID);
    if (schedule === undefined) return true;
    const node = this.#caches.nodes.get(schedule.spec?.nodeID ?? '');
    const state = scheduleState(schedule, node, capacitySettings(this.#caches));
    return state.kind === 'unknown' && state.isRemoved === true;
  }

  /**
   * Removes one key, with the version of the schedule that has it: a replica of the same name may be created on the same disk afterwards, and a release
   * that arrives late must not take its bytes. A disk without a schedule has nothing to release.
   */
  async #release(name: string, diskID: string, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(diskSchedules);
    const schedule = await undefinedIfNotFound(client.get({ name: diskID }, { signal }));
    if (!Object.hasOwn(schedule?.spec?.replicas ?? {}, name)) return;
    const { uid, resourceVersion } = schedule?.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, spec: { replicas: { [name]: null } } };
    await client.patch({ name: diskID }, { type: 'merge', body }, { signal });
  }
}
