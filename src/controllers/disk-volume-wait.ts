import { type DiskVolume, diskVolumes } from '../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../reconcile/controller.ts';
import { ObjectChanges } from '../reconcile/object-changes.ts';
import { onAbort } from '../runtime/abort.ts';

export interface DiskVolumeWaitOptions<Result> {
  readonly maxMs: number;
  /** Called with the stored Volume, at first and after each of its changes; undefined: wait for the next one. */
  look(volume: DiskVolume | undefined): Promise<Result | undefined>;
  /** The reason why the Volume waits, as a sentence. */
  timeoutText(volume: DiskVolume | undefined): string;
}

/** Waits for Volumes. They are watched from the first wait on, so that a process without claims of this driver watches nothing. */
export class DiskVolumeWait {
  readonly #context: Pick<ControllerContext, 'cluster' | 'informers' | 'clock'>;
  #changes: ObjectChanges<DiskVolume> | undefined;

  constructor(context: Pick<ControllerContext, 'cluster' | 'informers' | 'clock'>) {
    this.#context = context;
  }

  /** The first result of `look`. Throws after `maxMs`: then the outcome is unknown, and the caller tries again later. */
  async until<Result>(
    name: string,
    { maxMs, look, timeoutText }: DiskVolumeWaitOptions<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { cluster, clock } = this.#context;
    this.#changes ??= this.#watch(signal);
    const endMs = clock.monotonicMs() + maxMs;
    for (;;) {
      const change = this.#changes.next(name);
      try {
        const volume = await undefinedIfNotFound(cluster.resource(diskVolumes).get({ name }, { signal }));
        const result = await look(volume);
        if (result !== undefined) return result;
        const restMs = endMs - clock.monotonicMs();
        if (restMs <= 0) throw new Error(timeoutText(volume));
        await change.within(restMs, signal);
        signal.throwIfAborted();
      } finally {
        change.stop();
      }
    }
  }

  /** Runs until the controller stops. */
  #watch(signal: AbortSignal): ObjectChanges<DiskVolume> {
    const { informers, clock } = this.#context;
    const changes = new ObjectChanges(informers.of(diskVolumes), clock);
    signal.throwIfAborted();
    onAbort(signal, () => changes.close());
    return changes;
  }
}
