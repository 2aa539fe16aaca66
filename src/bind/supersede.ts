import type { KubeObject } from '../kube/api/meta.ts';
import { isReason, isRefusal } from '../kube/api-error.ts';
import type { Clock } from '../runtime/clock.ts';

/** An object with a write that got no response. */
export interface SupersededObject<T extends KubeObject> {
  /** The version that the write names. */
  readonly version: string;
  /** Reads the object; undefined if it was deleted. */
  readonly read: () => Promise<T | undefined>;
  /** Changes the object, on the version that was read, in a way that has no other effect. */
  readonly change: (live: T) => Promise<T>;
}

/** How often the object is written: for about five minutes. A server that fails for so long serves no other write either. */
const attemptsMax = 60;
const pauseMaxMs = 5_000;

/**
 * Makes sure that a write without a response can no longer take effect, so that another pod may get the capacity that was reserved for it. The
 * write names the version that it replaces, so it is enough that the object gets another one.
 *
 * Resolves with the object that has another version; it contains the late write if that was faster. Undefined if the object was deleted,
 * or if the server refuses the change, for example because a permission is missing; then the late write remains possible.
 */
export async function supersede<T extends KubeObject>(
  { version, read, change }: SupersededObject<T>,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (attempt > 0) await clock.sleep(Math.min(1_000 * attempt, pauseMaxMs), signal);
    signal.throwIfAborted();
    try {
      const live = await read();
      if (live?.metadata?.resourceVersion !== version) return live;
      const written = await change(live);
      if (written.metadata?.resourceVersion !== version) return written;
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusal(error) && !isReason(error, 'Conflict') && !isReason(error, 'TooManyRequests'))
        return undefined;
    }
  }
  return undefined;
}
