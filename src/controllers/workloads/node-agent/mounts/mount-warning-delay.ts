import type { Pod } from '../../../../kube/api/core.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { MountBlock } from './mount-check.ts';

/**
 * How long an obstacle that may disappear by itself is not reported. Our scheduler binds a pod when volume and claim name
 * each other, a moment before the claim's phase changes; a warning about that moment would be noise.
 */
const warningDelayMs = 3_000;

/** Tracks since when pods are blocked by obstacles that may disappear by themselves. */
export class MountWarningDelay {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The start of the obstacle. Key: the uid of the pod. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** How much longer the warning is delayed; 0 when it is due. */
  remainingMs({ metadata }: Pod, { mayPass }: MountBlock): number {
    if (mayPass !== true) return 0;
    const uid = metadata?.uid ?? '';
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#sinceMs.get(uid) ?? nowMs;
    this.#sinceMs.set(uid, sinceMs);
    return Math.max(0, sinceMs + warningDelayMs - nowMs);
  }

  /** The pod is no longer blocked, or gone. */
  forget({ metadata }: Pod): void {
    this.#sinceMs.delete(metadata?.uid ?? '');
  }
}
