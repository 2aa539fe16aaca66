import type { Projected } from '../../../cluster/cluster.ts';
import { ImageUsers } from '../../../engine/disks/images/image-users.ts';
import type { Condition } from '../../../kube/api/meta.ts';
import { getCondition, setCondition } from '../../../kube/conditions.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import { type DiskVolume, diskVolumes } from '../../../kube/stowage/volume.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { DiskCaches } from '../disk-caches.ts';
import { followImageUsers } from '../follow-caches.ts';
import { WritePace } from '../retries/write-pace.ts';

const workers = 2;
const type = 'BackingImageReady';

/**
 * Writes the condition `BackingImageReady` of each Volume that uses a BackingImage: whether its replicas can be made, or which one waits for a copy on its disk.
 * It reads the conditions of the image, not the verdicts on it. Keys are names of Volumes.
 */
export class VolumeImages {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #users: ImageUsers;
  readonly #queue: WorkQueue;
  readonly #pace: WritePace;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    this.#pace = new WritePace(context.clock);
    this.#users = new ImageUsers(caches);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { images, volumes, replicas, schedules } = this.#caches;
    const image = ({ metadata }: Projected<BackingImage>) => {
      for (const volume of this.#users.volumesOf(metadata?.name ?? '')) this.#queue.add(volume);
    };
    const loop = {
      controller: 'disks',
      caches: [images, volumes, replicas, schedules],
      listen: () => [
        ...followImageUsers(this.#users, this.#caches, ({ volume }) => this.#queue.add(volume)),
        images.addHandler({ added: image, updated: image, deleted: image }),
      ],
      queue: this.#queue,
      reconcile: (name: string) => this.#reconcile(name, signal),
      workers,
    };
    await runLoop(this.#context, loop, signal);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const volume = this.#caches.volumes.get(name);
    if (volume?.spec?.backingImage === undefined || volume.metadata?.deletionTimestamp !== undefined) {
      this.#pace.delete(name);
      return undefined;
    }
    const next = this.#conditionOf(volume, volume.spec.backingImage);
    const now = formatTimestamp(this.#context.clock.nowMs());
    const before = volume.status?.conditions;
    const conditions = setCondition(before, next, now);
    if (conditions === before) return undefined;
    const waitMs = this.#pace.takeMs(name);
    if (waitMs > 0) return { afterMs: waitMs };
    const { uid, resourceVersion } = volume.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    return await retryIfStale(async () => {
      await this.#context.cluster
        .resource(diskVolumes)
        .patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
    });
  }

  #conditionOf({ metadata }: Projected<DiskVolume>, imageName: string): Condition {
    const image = this.#caches.images.get(imageName);
    const no = { type, status: 'False' } as const;
    if (image === undefined)
      return {
        ...no,
        reason: 'NoBackingImage',
        message: `There is no BackingImage ${imageName}; create it, or delete the Volume`,
      };
    const replicas = this.#users.replicasOf(metadata?.name ?? '');
    if (replicas.every(({ spec }) => spec?.diskID === undefined))
      return { ...no, reason: 'Pending', message: 'No replica has a disk yet' };
    const waiting = replicas.find((replica) => isWaiting(replica, image));
    if (waiting === undefined)
      return {
        type,
        status: 'True',
        reason: 'CopyReady',
        message: `Every replica has a copy of BackingImage ${imageName}`,
      };
    return { ...no, reason: 'WaitingForCopy', message: this.#waitingText(waiting, image) };
  }

  #waitingText({ metadata, spec }: Replica, image: Projected<BackingImage>): string {
    const uuid = spec?.diskID ?? '';
    const { name = uuid, nodeID = spec?.nodeID } = this.#caches.schedules.get(uuid)?.spec ?? {};
    const where = `disk ${name} on node ${nodeID}`;
    const head = `Replica ${metadata?.name} waits for a copy of BackingImage ${image.metadata?.name} on ${where}`;
    const conditions = ['DiskAllocation', 'Ready'].map((one) => getCondition(image.status?.conditions, one));
    const why = conditions.find((condition) => condition?.status === 'False')?.message;
    return why === undefined ? head : `${head}: ${why}`;
  }
}

/** It has a disk without a ready copy, and has not got its data yet. */
function isWaiting({ spec, status }: Replica, image: Projected<BackingImage>): boolean {
  if (spec?.diskID === undefined || status?.healthyAt !== undefined) return false;
  return ownValue(image.status?.diskFileStatusMap, spec.diskID)?.state !== 'ready';
}
