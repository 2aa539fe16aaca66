import { copyBytes, mayMakeCopy } from '../../../../engine/disks/images/may-make-copy.ts';
import { type BackingImage, backingImages } from '../../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer } from '../../../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import type { Controller, ControllerContext } from '../../../../reconcile/controller.ts';
import { removeFinalizer } from '../../../../reconcile/remove-finalizer.ts';
import { retryIfStale } from '../../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../../reconcile/work-queue.ts';

/** Plays the agents of all disks: it makes no files, and writes what agents would write, one write at a time. */
export class CopyAgents {
  /** Bytes by the name of the image. */
  readonly sizes = new Map<string, number>();
  /** Disks where every copy fails. */
  readonly failing = new Set<string>();
  /** Disks whose agent does nothing. */
  readonly silent = new Set<string>();

  #wake = (): void => {};

  /** Agents that did nothing go on. */
  resume(): void {
    this.silent.clear();
    this.#wake();
  }

  get controller(): Controller {
    return { name: 'copy-agents', run: (context, signal) => this.#run(context, signal) };
  }

  async #run(context: ControllerContext, signal: AbortSignal): Promise<void> {
    const images = context.informers.of(backingImages);
    const schedules = context.informers.of(diskSchedules);
    const queue = new WorkQueue(context);
    const add = ({ metadata }: BackingImage) => queue.add(metadata?.name ?? '');
    const addAll = () => {
      for (const image of images.values()) add(image);
    };
    this.#wake = addAll;
    const loop = {
      controller: 'copy-agents',
      caches: [images, schedules],
      listen: () => [
        images.addHandler({ added: add, updated: add }),
        schedules.addHandler({ added: addAll, updated: addAll }),
      ],
      queue,
      reconcile: (name: string) => retryIfStale(() => this.#act(context, name, signal)),
      workers: 1,
    };
    await runLoop(context, loop, signal);
  }

  /** At most one write; its event leads to the next one. */
  async #act({ cluster }: ControllerContext, name: string, signal: AbortSignal): Promise<void> {
    const client = cluster.resource(backingImages);
    const image = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (image === undefined) return;
    const { uid, resourceVersion, finalizers = [] } = image.metadata ?? {};
    const metadata = { uid, resourceVersion };
    const write = async (status: object) => {
      const body = { metadata, status };
      await client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
    };
    const files = Object.entries(image.status?.diskFileStatusMap ?? {});
    for (const [uuid, { state }] of files) {
      if (this.silent.has(uuid)) continue;
      if (!Object.hasOwn(image.spec?.diskFileSpecMap ?? {}, uuid))
        return await write({ diskFileStatusMap: { [uuid]: null } });
      if (state !== 'in-progress') continue;
      if (this.failing.has(uuid))
        return await write({ diskFileStatusMap: { [uuid]: { state: 'failed', message: 'not found' } } });
      const size = image.status?.size ?? this.sizes.get(name) ?? 10;
      return await write({ size, diskFileStatusMap: { [uuid]: { state: 'ready' } } });
    }
    for (const uuid of Object.keys(image.spec?.diskFileSpecMap ?? {})) {
      // The length of the source is read before the copy is made.
      if (!this.silent.has(uuid) && copyBytes(image) === undefined)
        return await write({ sourceSize: this.sizes.get(name) ?? 10 });
      if (this.silent.has(uuid) || image.status?.diskFileStatusMap?.[uuid] !== undefined) continue;
      const schedule = await undefinedIfNotFound(
        cluster.resource(diskSchedules).get({ name: uuid }, { signal }),
      );
      if (schedule === undefined || !mayMakeCopy(image, uuid, schedule)) continue;
      if (finalizers.includes(diskAgentFinalizer))
        return await write({ diskFileStatusMap: { [uuid]: { state: 'in-progress' } } });
      if (image.metadata?.deletionTimestamp !== undefined) continue;
      const body = { metadata: { ...metadata, finalizers: [...finalizers, diskAgentFinalizer] } };
      await client.patch({ name }, { type: 'merge', body }, { signal });
      return;
    }
    if (image.metadata?.deletionTimestamp !== undefined && files.length === 0)
      if (finalizers.includes(diskAgentFinalizer))
        await removeFinalizer(client, image, diskAgentFinalizer, signal);
  }
}
