import type { Pod } from '../../../kube/api/core.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { MountBlock } from './mount-check.ts';

/**
 * How long a pod is held without a word by something that may pass by itself. Our scheduler gives a pod its node when volume and claim name
 * each other, a moment before the claim's phase says so; a warning about that moment would only worry people.
 */
const patienceMs = 3_000;

/** Since when pods are held by what may pass. */
export class MountWarningDelay {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By uid. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** How much longer nothing is said; 0 where it is time to tell. */
  remainingMs({ metadata }: Pod, { mayPass }: MountBlock): number {
    if (mayPass !== true) return 0;
    const uid = metadata?.uid ?? '';
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#sinceMs.get(uid) ?? nowMs;
    this.#sinceMs.set(uid, sinceMs);
    return Math.max(0, sinceMs + patienceMs - nowMs);
  }

  /** The pod is held no longer, or gone. */
  forget({ metadata }: Pod): void {
    this.#sinceMs.delete(metadata?.uid ?? '');
  }
}
