import type { Cluster, Projected } from '../../../cluster/cluster.ts';
import type { DiskIndex } from '../../../engine/disks/disk-index.ts';
import { failedCopiesKey, withFailures } from '../../../engine/disks/images/failed-copies.ts';
import type { ImagePlaceStep, ImageStep } from '../../../engine/disks/images/image-view.ts';
import { fileState, type ImageSources } from '../../../engine/disks/images/read-image.ts';
import { rejectedDisksKey, withRejection } from '../../../engine/disks/rejected-disks.ts';
import { isReason } from '../../../kube/api-error.ts';
import {
  type BackingImage,
  backingImageFinalizer,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer } from '../../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';

export interface ImageStepsOptions {
  readonly cluster: Cluster;
  readonly sources: ImageSources;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * Carries out the steps of one image, each with one write. A write of the image carries the version that the plan was made from, and so do withdrawals and
 * releases for the schedule. A request carries only the uid of the schedule: it sets one key that only requests of this image write, so it is right
 * whatever else changed; if it arrives after the copy was removed from the image, the next plan releases it.
 */
export class ImageSteps {
  readonly #options: ImageStepsOptions;
  readonly #cached: Projected<BackingImage>;
  /** The image as the previous steps wrote it. */
  #written: BackingImage | undefined;

  constructor(image: Projected<BackingImage>, options: ImageStepsOptions) {
    this.#cached = image;
    this.#options = options;
  }

  /** The cached version is out of date: a step wrote the image. */
  get hasWritten(): boolean {
    return this.#written !== undefined;
  }

  async run(step: ImageStep): Promise<void> {
    switch (step.kind) {
      case 'place':
        return await this.#place(step);
      case 'request':
        return await this.#request(step.diskUUID, step.bytes);
      case 'withdraw':
        return await this.#removeEntry(step.diskUUID);
      case 'release':
        return await this.#release(step.diskUUID);
      case 'unprotect':
        return await this.#unprotect();
    }
  }

  async #place({ add, remove, rejectedBy, failedOn }: ImagePlaceStep): Promise<void> {
    const { finalizers = [], deletionTimestamp } = this.#cached.metadata ?? {};
    const isProtected = finalizers.includes(backingImageFinalizer) || deletionTimestamp !== undefined;
    const annotations = this.#annotations(rejectedBy, failedOn);
    const diskFileSpecMap = Object.fromEntries([
      ...add.map((uuid) => [uuid, {}]),
      ...remove.map((uuid) => [uuid, null]),
    ]);
    await this.#patch({
      metadata: {
        ...(!isProtected && { finalizers: [...finalizers, backingImageFinalizer] }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      ...(add.length + remove.length > 0 && { spec: { diskFileSpecMap } }),
    });
  }

  #annotations(rejectedBy: readonly string[], failedOn: readonly string[]): Readonly<Record<string, string>> {
    const { sources, nowMs } = this.#options;
    return {
      ...(rejectedBy.length > 0 && {
        [rejectedDisksKey]: withRejections(this.#cached, rejectedBy, sources.diskIndex, nowMs),
      }),
      ...(failedOn.length > 0 && { [failedCopiesKey]: withFailures(this.#cached, failedOn, nowMs) }),
    };
  }

  async #request(uuid: string, bytes: number): Promise<void> {
    const { cluster, sources, signal } = this.#options;
    const { uid } = sources.objects.schedules.get(uuid)?.metadata ?? {};
    const body = { metadata: { uid }, spec: { backingImages: { [this.#name]: bytes } } };
    await cluster.resource(diskSchedules).patch({ name: uuid }, { type: 'merge', body }, { signal });
  }

  /**
   * The cache of images may be behind that of schedules: an entry without a placement is released only if the stored image has no placement either.
   * Placements are stored before requests, so this read sees a placement that belongs to the version of the schedule.
   */
  async #release(uuid: string): Promise<void> {
    const { cluster, sources, signal } = this.#options;
    const stored =
      this.#written ??
      (await undefinedIfNotFound(cluster.resource(backingImages).get({ name: this.#name }, { signal })));
    if (stored !== undefined) {
      const isWanted = Object.hasOwn(stored.spec?.diskFileSpecMap ?? {}, uuid);
      if (isWanted || fileState(stored, uuid, sources) !== undefined) return;
    }
    try {
      await this.#removeEntry(uuid);
    } catch (error) {
      // A disk without a schedule has nothing to release.
      if (!isReason(error, 'NotFound')) throw error;
    }
  }

  async #removeEntry(uuid: string): Promise<void> {
    const { cluster, sources, signal } = this.#options;
    const { uid, resourceVersion } = sources.objects.schedules.get(uuid)?.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, spec: { backingImages: { [this.#name]: null } } };
    await cluster.resource(diskSchedules).patch({ name: uuid }, { type: 'merge', body }, { signal });
  }

  /** All bytes are released. Files that are still listed are on disks that no longer exist, so their agents can't remove their finalizer. */
  async #unprotect(): Promise<void> {
    const { metadata, status } = this.#image;
    const hasLostFiles = Object.keys(status?.diskFileStatusMap ?? {}).length > 0;
    const removed = [backingImageFinalizer, ...(hasLostFiles ? [diskAgentFinalizer] : [])];
    const finalizers = (metadata?.finalizers ?? []).filter((name) => !removed.includes(name));
    await this.#patch({ metadata: { finalizers: finalizers.length === 0 ? null : finalizers } });
  }

  async #patch(change: { readonly metadata: object; readonly spec?: object }): Promise<void> {
    const { cluster, signal } = this.#options;
    const { uid, resourceVersion } = this.#image.metadata ?? {};
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    this.#written = await cluster
      .resource(backingImages)
      .patch({ name: this.#name }, { type: 'merge', body }, { signal });
  }

  get #image(): BackingImage {
    return this.#written ?? this.#cached;
  }

  get #name(): string {
    return this.#cached.metadata?.name ?? '';
  }
}

/** The annotation after rejections by several disks. */
function withRejections(
  image: Projected<BackingImage>,
  disks: readonly string[],
  diskIndex: DiskIndex,
  nowMs: number,
): string {
  let text = image.metadata?.annotations?.[rejectedDisksKey] ?? '{}';
  for (const uuid of disks)
    text = withRejection({ metadata: { annotations: { [rejectedDisksKey]: text } } }, uuid, diskIndex, nowMs);
  return text;
}
