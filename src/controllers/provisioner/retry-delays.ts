import type { Clock } from '../../runtime/clock.ts';
import { KeyedBackOff } from '../../runtime/keyed-back-off.ts';
import type { RefusedOutcome } from './provisioner.ts';

/** The delays of external-provisioner: `--retry-interval-start` and `--retry-interval-max`. */
const delay = { initialMs: 1_000, maxMs: 5 * 60_000 };

/** When to repeat a request that failed, depending on the failure. Each claim has its own back-off. */
export class RetryDelays {
  readonly #backOff: KeyedBackOff;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#backOff = new KeyedBackOff(clock, delay);
  }

  /** `retry-soon` does not grow: the driver is busy or does not answer for a moment. */
  afterMs(key: string, next: RefusedOutcome['next'] | 'retry-soon'): number {
    if (next === 'change') return delay.maxMs;
    return next === 'retry-soon' ? delay.initialMs : this.#backOff.failed(key);
  }

  /** The claim has its volume, or needs none. */
  forget(key: string): void {
    this.#backOff.forget(key);
  }
}
