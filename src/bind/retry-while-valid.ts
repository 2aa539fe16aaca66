import type { Clock } from '../runtime/clock.ts';

/** One write of several that belong together. */
export interface ConditionalWrite {
  /** On the version that was decided on where none is given. */
  readonly write: (version: string | undefined) => Promise<void>;
  /** After it failed: what stands there now. */
  readonly readState: () => Promise<WriteState>;
}

export type WriteState =
  /** It took effect; only the answer got lost. */
  | { readonly kind: 'done' }
  /** Nothing that the decision was made on has changed, so it holds for this version too. */
  | { readonly kind: 'as-decided'; readonly version: string | undefined }
  | { readonly kind: 'changed' };

/** Ahead of each try. */
const pausesMs = [0, 100, 500];

/**
 * Tries a write that fails again, as long as the decision behind it holds. Half of a pod's volumes is worse than all or none, and
 * whoever gives up also gives back what it had reserved; a hiccup of the server or a word that somebody added is no reason to.
 */
export async function retryWhileValid(
  { write, readState: look }: ConditionalWrite,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let version: string | undefined;
  let failure: unknown;
  for (const pauseMs of pausesMs) {
    await clock.sleep(pauseMs, signal);
    signal.throwIfAborted();
    try {
      await write(version);
      return;
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      // Where nobody answers, the same is tried on the same version: if the first got through, this one conflicts.
      const now = await look().catch(() => undefined);
      if (now?.kind === 'done') return;
      if (now?.kind === 'changed') throw error;
      version = now?.version ?? version;
    }
  }
  throw failure;
}
