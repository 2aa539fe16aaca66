import type { Clock } from '../../../../runtime/clock.ts';

/** As a kubelet retries operations on volumes. */
const firstDelayMs = 500;
const delayMaxMs = 122_000;

/** When operations that have failed may be tried again. An operation waits out its time whatever else happens to its volume. */
export class OperationBackOff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #failed = new Map<string, { readonly delayMs: number; readonly dueMs: number }>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** How long the operation has to wait; 0 if it may be tried now. */
  remainingMs(operation: string): number {
    const { dueMs = 0 } = this.#failed.get(operation) ?? {};
    return Math.max(0, dueMs - this.#clock.monotonicMs());
  }

  /** Returns how long to wait. */
  failed(operation: string): number {
    const before = this.#failed.get(operation)?.delayMs;
    const delayMs = before === undefined ? firstDelayMs : Math.min(delayMaxMs, 2 * before);
    this.#failed.set(operation, { delayMs, dueMs: this.#clock.monotonicMs() + delayMs });
    return delayMs;
  }

  /** It has succeeded, or is no longer wanted. */
  forget(operation: string): void {
    this.#failed.delete(operation);
  }
}
