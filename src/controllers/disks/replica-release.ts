import type { Projected } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { diskSchedules } from '../../kube/disks/disk-schedule.ts';
import { type Replica, replicaFinalizer, replicas } from '../../kube/disks/replica.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { DiskCaches } from './disk-caches.ts';
import { retryIfStale } from './retry-if-stale.ts';

const workers = 4;

/**
 * Releases the bytes of a Replica that is being deleted, and then lets it go. It does nothing else with schedules. The finalizer is removed only after
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
    const replica = (object: Projected<Replica>) => {
      if (isReleasable(object)) this.#queue.add(object.metadata?.name ?? '');
    };
    const loop = {
      controller: 'disks',
      caches: [this.#caches.replicas],
      listen: () => [this.#caches.replicas.addHandler({ added: replica, updated: replica })],
      queue: this.#queue,
      reconcile: (name: string) => this.#reconcile(name, signal),
      workers,
    };
    await runLoop(this.#context, loop, signal);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const client = this.#context.cluster.resource(replicas);
    const replica = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (replica === undefined || !isReleasable(replica)) return undefined;
    return await retryIfStale(async () => {
      const { diskID } = replica.spec ?? {};
      if (diskID !== undefined) await this.#release(name, diskID, signal);
      await removeFinalizer(client, replica, replicaFinalizer, signal);
    });
  }

  /** Removes one key, which is right whatever else changed. A disk without a schedule has nothing to release. */
  async #release(name: string, diskID: string, signal: AbortSignal): Promise<void> {
    const body = { spec: { replicas: { [name]: null } } };
    try {
      await this.#context.cluster
        .resource(diskSchedules)
        .patch({ name: diskID }, { type: 'merge', body }, { signal });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}

/** An agent that keeps the replica's data has a finalizer of its own: the bytes are free when the data is gone. */
function isReleasable({ metadata }: Replica): boolean {
  const ours = (metadata?.finalizers ?? []).filter((name) => name.startsWith('stowage.dev/'));
  return metadata?.deletionTimestamp !== undefined && ours.length === 1 && ours[0] === replicaFinalizer;
}
