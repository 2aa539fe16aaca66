import type { Projected } from '../../../cluster/cluster.ts';
import { copyBytes, mayMakeCopy } from '../../../engine/disks/images/may-make-copy.ts';
import { fileSystemReason } from '../../../io/files/file-system-reason.ts';
import { ApiError, isReason } from '../../../kube/api-error.ts';
import {
  type BackingImage,
  backingImageFinalizer,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import { diskAgentFinalizer } from '../../../kube/stowage/replica.ts';
import { type DiskVolume, diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { removeFinalizer } from '../../../reconcile/remove-finalizer.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { type AgentParts, dataFolderOn } from '../agent-parts.ts';
import { CopyFailures } from '../copy-failures.ts';
import type { CopyTasks } from '../copy-tasks.ts';
import { givesUpDisk, ownsDisk } from '../own-disks.ts';
import type { AgentDisk } from '../status/agent-disks.ts';
import { TransferError } from '../transfer/byte-source.ts';
import { attemptCopy, type ImageCopyPlace, prepareCopy } from './copy-attempt.ts';
import { copyOrigin } from './copy-origin.ts';
import { type CopyReport, writeCopyStatus } from './copy-status.ts';
import { lengthOrigin, readLength } from './source-length.ts';

const workers = 4;
/** Copies that are made at the same time. */
const tasksMax = 8;
/** Attempts that got no further, after which a copy has failed. */
const attemptsMax = 8;
const retryBaseMs = 1_000;
const retryMaxMs = 60_000;
/** When a copy waits for others to end. */
const busyMs = 1_000;

/**
 * Makes and removes the copies of images on the disks of this agent. Keys are `IMAGE/UUID`; a key without a UUID reconciles only the
 * finalizer of a deleted image. The controller `disks` decides where copies go.
 */
export class ImageCopies {
  readonly #parts: AgentParts;
  readonly #queue: WorkQueue;
  /** Downloads and uploads, by key. */
  readonly #tasks: CopyTasks;
  /** Attempts since a copy last got further, by key. */
  readonly #attempts = new Map<string, CopyAttempts>();
  readonly #failures: CopyFailures;

  constructor(parts: AgentParts, tasks: CopyTasks) {
    this.#parts = parts;
    this.#tasks = tasks;
    this.#queue = new WorkQueue(parts.context);
    this.#failures = new CopyFailures(parts.context);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { caches, context } = this.#parts;
    const loop = {
      controller: 'disk-agent',
      caches: Object.values(caches),
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: (key: string) => retryIfStaleOr(() => this.#reconcile(key, signal)),
      workers,
    };
    try {
      await runLoop(context, loop, signal);
    } finally {
      await this.#tasks.close();
    }
  }

  /** Looks at the copy again: an upload has ended. */
  wake(imageName: string, diskUUID: string): void {
    this.#queue.add(`${imageName}/${diskUUID}`);
  }

  // ── Events ──

  #listen(): readonly (() => void)[] {
    const { caches, disks } = this.#parts;
    const image = (object: Projected<BackingImage>) => this.#enqueue(object);
    const waiting = () => {
      for (const object of caches.images.values()) this.#enqueue(object);
    };
    return [
      caches.images.addHandler({ added: image, updated: image }),
      caches.schedules.addHandler({
        added: ({ metadata }) => this.#enqueueDisk(metadata?.name ?? ''),
        updated: ({ metadata }) => this.#enqueueDisk(metadata?.name ?? ''),
      }),
      // A copy may wait for another agent, or for a replica.
      caches.nodes.addHandler({ added: waiting, updated: waiting }),
      caches.replicas.addHandler({
        updated: ({ status }, old) => {
          if (status?.healthyAt !== old.status?.healthyAt) waiting();
        },
      }),
      disks.onChange(waiting),
    ];
  }

  #enqueue({ metadata, spec, status }: BackingImage): void {
    const name = metadata?.name ?? '';
    const uuids = new Set([
      ...Object.keys(spec?.diskFileSpecMap ?? {}),
      ...Object.keys(status?.diskFileStatusMap ?? {}),
    ]);
    for (const uuid of uuids) if (ownsDisk(this.#parts, uuid)) this.#queue.add(`${name}/${uuid}`);
    if (metadata?.deletionTimestamp !== undefined) this.#queue.add(`${name}/`);
  }

  #enqueueDisk(uuid: string): void {
    if (!ownsDisk(this.#parts, uuid)) return;
    for (const { metadata, spec } of this.#parts.caches.images.values())
      if (spec?.diskFileSpecMap?.[uuid] !== undefined) this.#queue.add(`${metadata?.name}/${uuid}`);
  }

  // ── One copy ──

  async #reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [name = '', uuid = ''] = key.split('/');
    const { context, disks } = this.#parts;
    if (!disks.isProbed) return undefined;
    const client = context.cluster.resource(backingImages);
    const image = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (image === undefined) {
      await this.#tasks.stop(key);
      this.#failures.forget(key);
      return undefined;
    }
    const disk = disks.ready(uuid);
    const { deletionTimestamp, finalizers = [] } = image.metadata ?? {};
    const isDeleted = deletionTimestamp !== undefined;
    // While a Volume uses a deleted image, the controller `disks` leaves its copies in the spec.
    const isHeld = finalizers.includes(backingImageFinalizer) && finalizers.includes(diskAgentFinalizer);
    const isWanted = (!isDeleted || isHeld) && image.spec?.diskFileSpecMap?.[uuid] !== undefined;
    if (disk !== undefined && isWanted) return await this.#keep({ image, disk }, key, signal);
    await this.#tasks.stop(key);
    const left = disk === undefined ? await this.#withoutDisk(image, uuid) : await this.#remove(image, disk);
    const isGone = Object.keys(left.status?.diskFileStatusMap ?? {}).length === 0;
    if (isDeleted && isGone && left.metadata?.finalizers?.includes(diskAgentFinalizer))
      await removeFinalizer(client, left, diskAgentFinalizer, signal);
    return undefined;
  }

  /** Deletes the file first: its bytes are released once its entry is removed. */
  async #remove(image: BackingImage, disk: AgentDisk): Promise<BackingImage> {
    const { context, onFilesChanged } = this.#parts;
    const { name = '', uid = '' } = image.metadata ?? {};
    const folder = dataFolderOn(this.#parts, disk, { kind: 'BackingImage', name });
    await folder.remove(uid);
    this.#attempts.delete(`${name}/${disk.uuid}`);
    onFilesChanged();
    return await writeCopyStatus(context, image, disk.uuid, undefined);
  }

  /** A copy whose disk does not answer is neither used nor forgotten, unless the disk was abandoned. */
  async #withoutDisk(image: BackingImage, uuid: string): Promise<BackingImage> {
    const { context } = this.#parts;
    const before = image.status?.diskFileStatusMap?.[uuid];
    if (before === undefined || !ownsDisk(this.#parts, uuid)) return image;
    if (givesUpDisk(this.#parts, uuid)) return await writeCopyStatus(context, image, uuid, undefined);
    if (before.state === 'failed') return image;
    const message = `disk ${uuid} does not answer; if it is lost, annotate the StorageNode with stowage.dev/force-removal=true`;
    return await writeCopyStatus(context, image, uuid, { state: 'unknown', message });
  }

  async #keep(
    { image, disk }: ImageCopyPlace,
    key: string,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (this.#tasks.has(key)) return undefined;
    const { name = '', uid = '' } = image.metadata ?? {};
    const state = await dataFolderOn(this.#parts, disk, { kind: 'BackingImage', name }).inspect();
    if (state.kind === 'foreign') return await this.#report(image, disk, failed(state.problem));
    if (state.kind === 'known' && state.identity.uid !== uid)
      return await this.#report(
        image,
        disk,
        failed(
          `images/${name} on the disk has the data of another image, ${state.identity.uid}; move it away`,
        ),
      );
    if (state.kind === 'known' && state.dataBytes !== undefined)
      return await this.#ready(image, disk, state.dataBytes);
    return await this.#make({ image, disk, hasFolder: state.kind === 'known' }, key, signal);
  }

  async #ready(image: BackingImage, disk: AgentDisk, bytes: number): Promise<undefined> {
    const known = image.status?.size ?? bytes;
    this.#attempts.delete(`${image.metadata?.name}/${disk.uuid}`);
    if (known !== bytes)
      return await this.#report(
        image,
        disk,
        failed(`the copy has ${bytes} bytes, and other copies have ${known}`),
      );
    const report: CopyReport = { state: 'ready', progress: 100 };
    await writeCopyStatus(this.#parts.context, image, disk.uuid, report, { size: bytes });
    return undefined;
  }

  async #make(
    { image, disk, hasFolder }: ImageCopyPlace & { readonly hasFolder: boolean },
    key: string,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { caches, disks } = this.#parts;
    const before = image.status?.diskFileStatusMap?.[disk.uuid];
    // It stays failed until the controller takes it from this disk.
    if (before?.state === 'failed') return undefined;
    if (copyBytes(image) === undefined) return await this.#learnSize({ image, disk }, key, signal);
    if (!mayMakeCopy(image, disk.uuid, caches.schedules.get(disk.uuid)))
      return await this.#report(image, disk, waitsForBytes);
    const isOwnDisk = (uuid: string) => disks.ready(uuid) !== undefined;
    const volume = await this.#sourceVolume(image, signal);
    const origin = copyOrigin(image, disk.uuid, { ...caches, volume, isOwnDisk });
    if (origin.kind === 'wait')
      return await this.#report(image, disk, { state: 'pending', message: origin.message });
    // The bytes that have arrived are kept; the client sends the rest later.
    if (origin.kind === 'upload')
      return hasFolder ? undefined : await this.#awaitUpload({ image, disk }, signal);
    return this.#start(key, (stop) => attemptCopy(this.#parts, { image, disk }, origin, stop));
  }

  /** Reads the length of the source, so that the disk can be asked for that many bytes. Nothing is made on the disk before it grants them. */
  async #learnSize(
    { image, disk }: ImageCopyPlace,
    key: string,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const volume = await this.#sourceVolume(image, signal);
    const origin = lengthOrigin(image, disk.uuid, { ...this.#parts.caches, volume });
    if (origin.kind === 'wait')
      return await this.#report(image, disk, { state: 'pending', message: origin.message });
    return this.#start(key, async (stop) => {
      const sourceSize = await readLength(origin, this.#parts.context.clock, stop);
      await this.#recordLength(image, disk, sourceSize);
    });
  }

  /**
   * The write carries the version of an image that still has no size: of two agents that read a length, one records it. If the agent dies before it, the
   * next look reads the length again.
   */
  async #recordLength(image: BackingImage, disk: AgentDisk, sourceSize: number): Promise<void> {
    const { context } = this.#parts;
    const { name = '', uid } = image.metadata ?? {};
    const stored = await undefinedIfNotFound(context.cluster.resource(backingImages).get({ name }));
    if (stored?.metadata?.uid !== uid || stored === undefined || copyBytes(stored) !== undefined) return;
    await writeCopyStatus(context, stored, disk.uuid, waitsForBytes, { sourceSize, isVersioned: true });
  }

  /** Starts an attempt, unless the next one is due later or too many run. */
  #start(key: string, attempt: (stop: AbortSignal) => Promise<void>): Requeue | undefined {
    const dueMs = this.#attempts.get(key)?.dueMs ?? 0;
    const restMs = dueMs - this.#parts.context.clock.monotonicMs();
    if (restMs > 0) return { afterMs: restMs };
    if (this.#tasks.size >= tasksMax) return { afterMs: busyMs };
    this.#tasks.start(key, async (stop) => {
      await this.#attempt(key, () => attempt(stop), stop);
      this.#queue.add(key);
    });
    return undefined;
  }

  async #sourceVolume({ spec }: BackingImage, signal: AbortSignal): Promise<DiskVolume | undefined> {
    const name = spec?.source?.volume?.name;
    if (name === undefined) return undefined;
    const client = this.#parts.context.cluster.resource(diskVolumes);
    return await undefinedIfNotFound(client.get({ name }, { signal }));
  }

  async #awaitUpload(place: ImageCopyPlace, signal: AbortSignal): Promise<undefined> {
    const message = `waits for the upload; send it to the agent of node ${this.#parts.nodeName}`;
    await prepareCopy(this.#parts, place, { state: 'starting', message }, signal);
    return undefined;
  }

  /** Runs one attempt, and reports what became of it. Never throws. */
  async #attempt(key: string, attempt: () => Promise<void>, stop: AbortSignal): Promise<void> {
    const { context, onFilesChanged } = this.#parts;
    try {
      await attempt();
      this.#attempts.delete(key);
      this.#failures.forget(key);
    } catch (error) {
      if (stop.aborted) return;
      try {
        await this.#handle(key, error);
      } catch (other) {
        context.report({ controller: 'disk-agent', key, error: other });
      }
    } finally {
      onFilesChanged();
    }
  }

  async #handle(key: string, error: unknown): Promise<void> {
    const { context, disks } = this.#parts;
    const [name = '', uuid = ''] = key.split('/');
    const disk = disks.ready(uuid);
    const delayMs = this.#countAttempt(key, disk === undefined ? 0 : await this.#receivedBytes(name, disk));
    // The object has changed; the next look decides.
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return;
    if (error instanceof ApiError) return context.report({ controller: 'disk-agent', key, error });
    const client = context.cluster.resource(backingImages);
    const image = await undefinedIfNotFound(client.get({ name }));
    if (image === undefined || disk === undefined) return;
    const message = error instanceof TransferError ? error.message : fileSystemReason(error);
    const isOver = (error instanceof TransferError && error.isPermanent) || delayMs === undefined;
    this.#failures.report(key, { object: image, resource: backingImages, message, isFinal: isOver });
    const again = `${message}; tries again in ${Math.ceil((delayMs ?? 0) / 1000)} s`;
    const { progress } = image.status?.diskFileStatusMap?.[uuid] ?? {};
    const retried: CopyReport = {
      state: copyBytes(image) === undefined ? 'pending' : 'in-progress',
      message: again,
      ...(progress !== undefined && { progress }),
    };
    await writeCopyStatus(context, image, uuid, isOver ? failed(message) : retried);
  }

  async #receivedBytes(name: string, disk: AgentDisk): Promise<number> {
    const state = await dataFolderOn(this.#parts, disk, { kind: 'BackingImage', name }).inspect();
    return state.kind === 'known' ? (state.identity.receivedBytes ?? 0) : 0;
  }

  /** When to try again; undefined after too many attempts that got no further. */
  #countAttempt(key: string, receivedBytes: number): number | undefined {
    const before = this.#attempts.get(key);
    const count = before === undefined || receivedBytes > before.receivedBytes ? 1 : before.count + 1;
    const delayMs = Math.min(retryMaxMs, retryBaseMs * 2 ** (count - 1));
    const dueMs = this.#parts.context.clock.monotonicMs() + delayMs;
    this.#attempts.set(key, { count, dueMs, receivedBytes });
    return count >= attemptsMax ? undefined : delayMs;
  }

  async #report(image: BackingImage, disk: AgentDisk, report: CopyReport): Promise<undefined> {
    await writeCopyStatus(this.#parts.context, image, disk.uuid, report);
    return undefined;
  }
}

interface CopyAttempts {
  readonly count: number;
  readonly receivedBytes: number;
  /** The next one is not earlier. */
  readonly dueMs: number;
}

const waitsForBytes: CopyReport = { state: 'pending', message: 'waits for its bytes on the disk' };

function failed(message: string): CopyReport {
  return { state: 'failed', message };
}

async function retryIfStaleOr(reconcile: () => Promise<Requeue | undefined>): Promise<Requeue | undefined> {
  let requeue: Requeue | undefined;
  const stale = await retryIfStale(async () => {
    requeue = await reconcile();
  });
  return stale ?? requeue;
}
