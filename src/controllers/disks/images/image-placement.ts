import type { Projected } from '../../../cluster/cluster.ts';
import { type DiskChange, DiskIndex } from '../../../engine/disks/disk-index.ts';
import { reportedDisks } from '../../../engine/disks/disk-objects.ts';
import { failedCopies } from '../../../engine/disks/images/failed-copies.ts';
import { ImageEntries } from '../../../engine/disks/images/image-entries.ts';
import { imageStatus, removedKeys } from '../../../engine/disks/images/image-status.ts';
import { ImageUsers } from '../../../engine/disks/images/image-users.ts';
import type { ImagePlan, ImageView } from '../../../engine/disks/images/image-view.ts';
import { idleCopyMaxMs, planImage } from '../../../engine/disks/images/plan-image.ts';
import {
  type ImageSources,
  isDiskGone,
  readImage,
  requestKey,
} from '../../../engine/disks/images/read-image.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import {
  type BackingImage,
  type BackingImageStatus,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { Sweep } from '../../../reconcile/sweep.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { DiskCaches } from '../disk-caches.ts';
import { followDisks, followImageEntries, followImageUsers } from '../follow-caches.ts';
import { RetryState } from '../retries/retry-state.ts';
import { ImageSteps } from './image-steps.ts';

const workers = 2;

/**
 * Places the copies of every BackingImage, and removes them. It decides from stored objects only, and each of its writes can be the last one before a crash:
 * the next plan starts from the stored objects. Keys are names of BackingImages.
 */
export class ImagePlacement {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #sources: ImageSources;
  readonly #queue: WorkQueue;
  readonly #retry: RetryState;
  readonly #sweep: Sweep;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    const diskIndex = new DiskIndex(caches);
    this.#retry = new RetryState(context, this.#queue, diskIndex);
    this.#sources = {
      objects: caches,
      diskIndex,
      users: new ImageUsers(caches),
      entries: new ImageEntries(),
      ages: this.#retry,
    };
    const keys = () =>
      [...caches.images.values()]
        .map(({ metadata }) => metadata?.name ?? '')
        .filter((name) => !this.#retry.isTimed(name));
    this.#sweep = new Sweep(context, { controller: 'disks', queue: this.#queue, keys });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { images, volumes, schedules, nodes, replicas, settings } = this.#caches;
    const loop = {
      controller: 'disks',
      caches: [images, volumes, schedules, nodes, replicas, settings],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((name) => this.#reconcile(name, signal)),
      workers,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  // ── Events ──

  #listen(): readonly (() => void)[] {
    const { images, nodes, schedules } = this.#caches;
    const { diskIndex, users, entries } = this.#sources;
    const wake = (image: string) => this.#queue.add(image);
    const image = ({ metadata }: Projected<BackingImage>) => this.#queue.add(metadata?.name ?? '');
    return [
      ...followDisks(diskIndex, this.#caches, { gained: (change) => this.#diskGained(change) }),
      ...followImageUsers(users, this.#caches, ({ image: used }) => wake(used)),
      ...followImageEntries(entries, this.#caches, wake),
      schedules.addHandler({
        updated: (schedule, old) => this.#scheduleChanged(schedule, old),
        deleted: ({ metadata }) => this.#disksChanged([metadata?.name ?? '']),
      }),
      nodes.addHandler({
        updated: (node, old) => this.#nodeChanged(node, old),
        deleted: (node) => this.#disksChanged([...reportedDisks(node).keys()]),
      }),
      images.addHandler({ added: image, updated: image, deleted: image }),
    ];
  }

  #diskGained(change: DiskChange): void {
    const { disk, before } = change;
    this.#retry.diskGained(change);
    // A disk that is new or back may have replicas that need a copy there.
    if (before?.state.kind !== 'ready') this.#disksChanged([disk.uuid]);
  }

  /** Eviction may have been requested of the node that the disk was moved to. */
  #scheduleChanged({ metadata, spec }: Projected<DiskSchedule>, old: Projected<DiskSchedule>): void {
    if (spec?.nodeID !== old.spec?.nodeID || spec?.name !== old.spec?.name)
      this.#disksChanged([metadata?.name ?? '']);
  }

  /** Eviction may have been requested of the node or of one of its disks, or it may have lost or gained a disk. */
  #nodeChanged(node: Projected<StorageNode>, old: Projected<StorageNode>): void {
    const { diskIndex } = this.#sources;
    const reported = new Set([...reportedDisks(node).keys(), ...reportedDisks(old).keys()]);
    const hasSameDisks = [node, old].every((one) => reportedDisks(one).size === reported.size);
    const hasSameMetadata = isEqualWhenStored(node.metadata?.annotations, old.metadata?.annotations);
    if (isEqualWhenStored(node.spec, old.spec) && hasSameDisks && hasSameMetadata) return;
    // Also those that it does not report now.
    this.#disksChanged([...diskIndex.affectedBy(node), ...reported]);
  }

  /** Wakes the images that have, or should have, a copy on one of these disks. */
  #disksChanged(disks: readonly string[]): void {
    for (const { metadata, spec, status } of this.#caches.images.values()) {
      const name = metadata?.name ?? '';
      const isNamed = (uuid: string) =>
        Object.hasOwn(spec?.diskFileSpecMap ?? {}, uuid) ||
        Object.hasOwn(status?.diskFileStatusMap ?? {}, uuid);
      if (disks.some(isNamed) || this.#isNeededOn(name, disks)) this.#queue.add(name);
    }
  }

  #isNeededOn(image: string, disks: readonly string[]): boolean {
    const neededOn = this.#sources.users.neededOn(image);
    return disks.some((uuid) => neededOn.has(uuid));
  }

  // ── One image ──

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const image = this.#caches.images.get(name);
    if (image === undefined) {
      this.#retry.forget(name);
      return undefined;
    }
    const nowMs = this.#context.clock.nowMs();
    const view = readImage(image, this.#sources, nowMs);
    const plan = planImage(view, this.#sources.diskIndex.disks);
    const status = view.deletion === 'free' ? (image.status ?? {}) : this.#statusOf(image, view, plan, nowMs);
    if (plan.steps.length > 0 || !isEqualWhenStored(status, image.status ?? {})) {
      const waitMs = this.#retry.takeWriteMs(name);
      if (waitMs > 0) return { afterMs: waitMs };
      const conflict = await retryIfStale(() => this.#applyPlan(image, plan, { status, nowMs, signal }));
      if (conflict !== undefined) return conflict;
    }
    const { allocation } = plan;
    this.#retry.waitFor(name, {
      diskBytes: allocation.kind === 'waiting-for-disk' ? allocation.bytes : undefined,
    });
    return this.#requeueAfter(image, view, plan, nowMs);
  }

  async #applyPlan(
    image: Projected<BackingImage>,
    plan: ImagePlan,
    { status, nowMs, signal }: StatusAndTime,
  ): Promise<void> {
    const { cluster } = this.#context;
    const steps = new ImageSteps(image, { cluster, sources: this.#sources, nowMs, signal });
    for (const step of plan.steps) {
      this.#sweep.beforeWrite();
      await steps.run(step);
    }
    // The event of a write of the image leads to the next plan, which reports.
    if (!steps.hasWritten && !isEqualWhenStored(status, image.status ?? {}))
      await this.#writeStatus(image, status, signal);
  }

  #statusOf(
    image: Projected<BackingImage>,
    view: ImageView,
    plan: ImagePlan,
    nowMs: number,
  ): BackingImageStatus {
    const { spec, status: before } = image;
    const isLost = (uuid: string) =>
      !Object.hasOwn(spec?.diskFileSpecMap ?? {}, uuid) && isDiskGone(uuid, this.#sources);
    return imageStatus(image, {
      view,
      plan,
      failure: failedCopies(image, this.#sources.diskIndex, nowMs).message,
      usedBy: this.#sources.users.volumesOf(view.name),
      lostFiles: Object.keys(before?.diskFileStatusMap ?? {}).filter(isLost),
      now: formatTimestamp(nowMs),
    });
  }

  async #writeStatus(
    { metadata, status: before }: Projected<BackingImage>,
    status: BackingImageStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata ?? {};
    const { observedGeneration, conditions } = status;
    const body = {
      metadata: { uid, resourceVersion },
      status: { observedGeneration, conditions, ...removedKeys(before, status) },
    };
    this.#sweep.beforeWrite();
    await this.#context.cluster
      .resource(backingImages)
      .patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
  }

  /** When something changes without an event: a verdict is overdue, a failure or a rejection is forgotten, or a copy is unused for too long. */
  #requeueAfter(
    image: Projected<BackingImage>,
    view: ImageView,
    { allocation }: ImagePlan,
    nowMs: number,
  ): Requeue | undefined {
    const { diskIndex } = this.#sources;
    const pendingMs = view.copies.flatMap(({ place, entry }) => {
      const ms = this.#retry.verdictDueMs(
        requestKey(view.name, place.uuid),
        entry,
        diskIndex.get(place.uuid),
      );
      return ms === undefined || ms === 0 ? [] : [ms];
    });
    const { retryAfterMs } = failedCopies(image, diskIndex, nowMs);
    const wanted = view.copies.filter(({ isWanted }) => isWanted);
    const isSurplus = wanted.length > view.minNumberOfCopies;
    const idle = isSurplus ? wanted.filter(({ place }) => !view.neededOn.has(place.uuid)) : [];
    const slowMs = this.#retry.slowRetryMs();
    const delays = [
      ...pendingMs,
      ...(retryAfterMs === undefined ? [] : [retryAfterMs]),
      ...idle.flatMap(({ idleMs }) => (idleMs < idleCopyMaxMs ? [idleCopyMaxMs - idleMs] : [])),
      ...(allocation.kind === 'waiting-for-disk' ? [slowMs] : []),
    ];
    return this.#retry.requeueAfter(view.name, delays);
  }
}

interface StatusAndTime {
  readonly status: BackingImageStatus;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}
