import { backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { retryIfStale } from '../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { DiskCaches } from './disk-caches.ts';

/** The time between the two reads that find no owner. A requester may be about to create it, or a cache may be behind. */
const graceMs = 60_000;

type OwnerKind = 'replicas' | 'backingImages';

/**
 * Removes requests whose Replica or BackingImage does not exist, and those of a Replica that is on another disk: two instances that place it at the same time
 * may both request. The owner is read from the API server twice, a minute apart, and the removal carries the version of the schedule: a request that
 * was repeated meanwhile stays. If a Replica is assigned to the disk again at that moment, its volume requests again. Keys are names of DiskSchedules.
 */
export class StaleEntries {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #queue: WorkQueue;
  /** When an owner was first found missing or elsewhere, by schedule, kind and name. */
  readonly #missing = new Map<string, number>();

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { schedules, replicas: knownReplicas, images } = this.#caches;
    const schedule = (object: DiskSchedule) => {
      if (this.#suspects(object).length > 0) this.#queue.add(object.metadata?.name ?? '');
    };
    const loop = {
      controller: 'disks',
      caches: [schedules, knownReplicas, images],
      listen: () => [
        schedules.addHandler({ added: schedule, updated: schedule }),
        knownReplicas.addHandler({
          updated: (replica, old) => {
            if (replica.spec?.diskID !== old.spec?.diskID) this.#queue.add(old.spec?.diskID ?? '');
          },
          deleted: ({ spec }) => this.#queue.add(spec?.diskID ?? ''),
        }),
        images.addHandler({
          deleted: ({ status }) => {
            for (const uuid of Object.keys(status?.diskFileStatusMap ?? {})) this.#queue.add(uuid);
          },
        }),
      ],
      queue: this.#queue,
      reconcile: (name: string) => this.#reconcile(name, signal),
      workers: 1,
    };
    await runLoop(this.#context, loop, signal);
  }

  /** Entries whose owner the caches do not have, or have on another disk. */
  #suspects({ metadata, spec }: DiskSchedule): readonly (readonly [OwnerKind, string])[] {
    const { replicas: known, images } = this.#caches;
    return [
      ...Object.keys(spec?.replicas ?? {}).flatMap((name) =>
        known.get(name)?.spec?.diskID === metadata?.name ? [] : [['replicas', name] as const],
      ),
      ...Object.keys(spec?.backingImages ?? {}).flatMap((name) =>
        images.get(name) === undefined ? [['backingImages', name] as const] : [],
      ),
    ];
  }

  async #reconcile(uuid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const schedule = this.#caches.schedules.get(uuid);
    const suspects = schedule === undefined ? [] : this.#suspects(schedule);
    const stale: (readonly [OwnerKind, string])[] = [];
    const nowMs = this.#context.clock.monotonicMs();
    let nextMs: number | undefined;
    const checkAgainIn = (ms: number) => {
      nextMs = Math.min(nextMs ?? ms, ms);
    };
    for (const [kind, name] of suspects) {
      const key = `${uuid} ${kind} ${name}`;
      const since = this.#missing.get(key) ?? nowMs;
      if (since !== nowMs && nowMs - since < graceMs) checkAgainIn(since + graceMs - nowMs);
      else if (await this.#isOwned(uuid, kind, name, signal)) this.#missing.delete(key);
      else if (since === nowMs) {
        this.#missing.set(key, nowMs);
        checkAgainIn(graceMs);
      } else stale.push([kind, name]);
    }
    if (stale.length > 0 && schedule !== undefined) {
      const conflict = await retryIfStale(() => this.#remove(schedule, stale, signal));
      if (conflict !== undefined) return conflict;
      for (const [kind, name] of stale) this.#missing.delete(`${uuid} ${kind} ${name}`);
    }
    return nextMs === undefined ? undefined : { afterMs: nextMs };
  }

  async #isOwned(uuid: string, kind: OwnerKind, name: string, signal: AbortSignal): Promise<boolean> {
    const { cluster } = this.#context;
    if (kind === 'replicas') {
      const replica = await undefinedIfNotFound(cluster.resource(replicas).get({ name }, { signal }));
      return replica?.spec?.diskID === uuid;
    }
    const image = await undefinedIfNotFound(cluster.resource(backingImages).get({ name }, { signal }));
    return image !== undefined;
  }

  async #remove(
    { metadata }: DiskSchedule,
    stale: readonly (readonly [OwnerKind, string])[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata ?? {};
    const removals = (wanted: OwnerKind) =>
      Object.fromEntries(stale.flatMap(([kind, owner]) => (kind === wanted ? [[owner, null]] : [])));
    const spec = { replicas: removals('replicas'), backingImages: removals('backingImages') };
    const body = { metadata: { uid, resourceVersion }, spec };
    await this.#context.cluster.resource(diskSchedules).patch({ name }, { type: 'merge', body }, { signal });
    const owners = stale.map(([kind, owner]) => `${kind}/${owner}`);
    this.#context.log.info(`disk ${name}: removed requests without an owner`, { owners });
  }
}
