import { readDiskCandidate } from '../../../engine/disks/disk-candidate.ts';
import { capacitySettings } from '../../../engine/disks/disk-objects.ts';
import { copyBytes } from '../../../engine/disks/images/may-make-copy.ts';
import {
  type PoolCapacityReport,
  poolCapacityReport,
  type ScheduledDisk,
} from '../../../engine/disks/pool-capacity.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { persistentVolumes, storageClasses } from '../../../kube/resources.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { disksDriver } from '../../../kube/stowage/volume.ts';
import { volumeClassName, volumeExistsAtMs } from '../../../kube/volumes.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { Sweep } from '../../../reconcile/sweep.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { DiskCaches } from '../disk-caches.ts';
import { PoolObjects } from './pool-objects.ts';

/** The only key: the capacity of every class is computed from the same disks. */
const poolsKey = 'pools';
/** The shortest time between two passes: a burst of requests is measured once. */
const passEveryMs = 500;
/** The cache is behind the write of another process for a moment. */
const staleMs = 50;

/**
 * Publishes the free capacity for volumes of each class of `disks.stowage.dev`, so that schedulers choose no node for a claim that no disks could hold.
 * The schedules are read from the server in each pass, after the time of the measurement was taken: a cache may lag behind, and a promise of the
 * scheduler ends with a capacity that was measured after the volume existed.
 */
export class DiskPools {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #classes: Informer<StorageClass>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;
  /** When the youngest volume of each class was created. */
  readonly #youngestMs = new Map<string, number>();
  #nextPassMs = Number.NEGATIVE_INFINITY;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#classes = context.informers.of(storageClasses);
    this.#volumes = context.informers.of(persistentVolumes);
    this.#queue = new WorkQueue(context);
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys: () => [poolsKey] });
  }

  async run(signal: AbortSignal): Promise<void> {
    const objects = new PoolObjects(this.#context);
    const { schedules, nodes, images, settings } = this.#caches;
    const loop = {
      controller: 'disks',
      caches: [schedules, nodes, images, settings, this.#classes, this.#volumes, objects],
      listen: () => [...this.#listen(), objects.listen(() => this.#wake())],
      queue: this.#queue,
      reconcile: this.#sweep.wrap(() => this.#reconcile(objects, signal)),
      workers: 1,
    };
    try {
      await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
    } finally {
      await objects.close();
    }
  }

  // ── Events ──

  #listen(): readonly (() => void)[] {
    const wake = () => this.#wake();
    const { schedules, nodes, images, settings } = this.#caches;
    const wakeIfOther = <T>(part: (object: T) => unknown) => ({
      added: wake,
      deleted: wake,
      updated: (object: T, old: T) => {
        if (!isEqualWhenStored(part(object), part(old))) wake();
      },
    });
    return [
      schedules.addHandler({ added: wake, updated: wake, deleted: wake }),
      nodes.addHandler({ added: wake, updated: wake, deleted: wake }),
      images.addHandler(wakeIfOther(copyBytes)),
      settings.addHandler(wakeIfOther(({ spec }) => spec)),
      this.#classes.addHandler(wakeIfOther(({ provisioner, parameters }) => [provisioner, parameters])),
      this.#volumes.addHandler({
        added: (volume) => this.#noteVolume(volume),
        updated: (volume) => this.#noteVolume(volume),
      }),
    ];
  }

  #wake(): void {
    this.#queue.add(poolsKey);
  }

  #noteVolume(volume: PersistentVolume): void {
    const existsAtMs = volumeExistsAtMs(volume);
    if (volume.spec?.csi?.driver !== disksDriver || existsAtMs === undefined) return;
    const className = volumeClassName(volume);
    if (existsAtMs <= (this.#youngestMs.get(className) ?? Number.NEGATIVE_INFINITY)) return;
    this.#youngestMs.set(className, existsAtMs);
    this.#wake();
  }

  // ── One pass ──

  async #reconcile(objects: PoolObjects, signal: AbortSignal): Promise<Requeue | undefined> {
    const { clock } = this.#context;
    const restMs = this.#nextPassMs - clock.monotonicMs();
    if (restMs > 0) return { afterMs: restMs };
    this.#nextPassMs = clock.monotonicMs() + passEveryMs;
    const classes = [...this.#classes.values()].filter(({ provisioner }) => provisioner === disksDriver);
    const measuredAtMs = clock.nowMs();
    const disks = classes.length === 0 ? [] : await this.#readDisks(signal);
    const reports = classes.flatMap(
      (one) => poolCapacityReport(one, disks, (name) => this.#caches.images.get(name)) ?? [],
    );
    try {
      for (const report of reports) await this.#publish(objects, report, measuredAtMs, signal);
      const names = new Set(reports.map(({ className }) => className));
      await objects.keepOnly(names, () => this.#sweep.beforeWrite(), signal);
    } catch (error) {
      // Another process has written the object, or the class is being deleted.
      const isStale =
        isReason(error, 'Conflict') || isReason(error, 'AlreadyExists') || isReason(error, 'NotFound');
      if (!isStale) throw error;
      return { afterMs: Math.max(passEveryMs, staleMs) };
    }
    return this.#requeueAfter(reports, measuredAtMs);
  }

  async #readDisks(signal: AbortSignal): Promise<readonly ScheduledDisk[]> {
    const { items } = await this.#context.cluster.resource(diskSchedules).list({ signal });
    const settings = capacitySettings(this.#caches);
    return items.map((schedule) => {
      const node = this.#caches.nodes.get(schedule.spec?.nodeID ?? '');
      return { schedule, disk: readDiskCandidate(schedule, node, settings) };
    });
  }

  /** An unchanged capacity is written again only if a volume was created since it was measured. */
  async #publish(
    objects: PoolObjects,
    report: PoolCapacityReport,
    measuredAtMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const publishedMs = objects.measuredAtMs(report);
    const youngestMs = this.#youngestMs.get(report.className) ?? Number.NEGATIVE_INFINITY;
    // A measurement that is too early for the youngest volume would need another write.
    if (publishedMs !== undefined && (publishedMs > youngestMs || measuredAtMs <= youngestMs)) return;
    this.#sweep.beforeWrite();
    await objects.write(report, measuredAtMs, signal);
  }

  /** Requeues until the clock has passed the creation of every volume: it may have been in this millisecond, or by a clock that is ahead of ours. */
  #requeueAfter(reports: readonly PoolCapacityReport[], measuredAtMs: number): Requeue | undefined {
    const youngest = reports.map(({ className }) => this.#youngestMs.get(className) ?? 0);
    const missingMs = Math.max(0, ...youngest) - measuredAtMs;
    return missingMs < 0 || youngest.length === 0 ? undefined : { afterMs: missingMs + 1 };
  }
}
