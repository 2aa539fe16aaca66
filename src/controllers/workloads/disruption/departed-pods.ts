import type { Pod } from '../../../kube/api/core.ts';
import { keyOf } from '../../../kube/object-key.ts';

/**
 * Which pods are known to have gone of late. Budgets name the pods that may be evicted, and replica sets as well as stateful sets give
 * the name to the next one, maybe within the second up to which times on objects are exact.
 */
export class RecentlyDeletedPods {
  readonly #keptMs: number;
  /** When, by key; the oldest first. */
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

  /** Whether one of this name went before. */
  hasPredecessor(pod: Pod): boolean {
    return this.#goneMs.has(keyOf(pod));
  }
}
