import type { Clock } from '../runtime/clock.ts';

/** A write that holds only for the state that was decided on. */
export interface ConditionalWrite {
  /** `version` is the resourceVersion to write on; undefined for the one that was decided on. */
  readonly write: (version: string | undefined) => Promise<void>;
  /** Reads the object after the write failed. */
  readonly readState: () => Promise<WriteState>;
}

export type WriteState =
  /** The write took effect; only its response was lost. */
  | { readonly kind: 'done' }
  /** Nothing that the decision depends on has changed, so the write may be repeated on this version. */
  | { readonly kind: 'unchanged'; readonly version: string | undefined }
  | { readonly kind: 'changed' };

/** Before each attempt. */
const pausesMs = [0, 100, 500];

/**
 * Retries a failed write while the decision behind it still holds. Binding only some of a pod's volumes is worse than binding all or
 * none, and giving up means to undo what has been written. A temporary server error, or an annotation that another client added, is no
 * reason for that.
 */
export async function retryWhileValid(
  { write, readState: look }: ConditionalWrite,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let version: string | undefined;
  let failure: unknown;
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    signal.throwIfAborted();
    try {
      await write(version);
      return;
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      // If the object cannot be read, the same version is tried again: if the first write took effect, the second one conflicts.
      const state = await look().catch(() => undefined);
      if (state?.kind === 'done') return;
      if (state?.kind === 'changed') throw error;
      version = state?.version ?? version;
    }
  }
  throw failure;
}
