import type { Pod } from '../../../kube/api/core.ts';
import { keyOf } from '../../../kube/object-key.ts';

/**
 * Pods that were deleted recently. Budgets identify the pods that may be evicted by name, and replica sets as well as stateful sets reuse
 * the name for the next pod, maybe within the same second, which is the resolution of timestamps.
 */
export class RecentlyDeletedPods {
  readonly #keptMs: number;
  /** The time of deletion by key; the oldest first. */
  readonly #goneMs = new Map<string, number>();

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  note(pod: Pod, nowMs: number): void {
    for (const [key, goneMs] of this.#goneMs) {
      if (nowMs - goneMs <= this.#keptMs) break;
      this.#goneMs.delete(key);
    }
    const key = keyOf(pod);
    this.#goneMs.delete(key);
    this.#goneMs.set(key, nowMs);
  }

  /** Whether another pod of this name was deleted before. */
  hasPredecessor(pod: Pod): boolean {
    return this.#goneMs.has(keyOf(pod));
  }
}
