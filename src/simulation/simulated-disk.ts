import type { Durability } from '../apiserver/store/durability.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';

const never = new AbortController().signal;

/** How long a commit takes at most, as on a good drive. */
const commitMaxMs = 3;

/** The disk under the API server: commits take time, and fail while it is full. A commit that fails has written nothing. */
export class SimulatedDisk implements Durability {
  readonly #clock: Clock;
  readonly #random: Random;
  #fullUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  fill(forMs: number): void {
    this.#fullUntilMs = Math.max(this.#fullUntilMs, this.#clock.monotonicMs() + forMs);
  }

  free(): void {
    this.#fullUntilMs = Number.NEGATIVE_INFINITY;
  }

  async persist(): Promise<void> {
    await this.#clock.sleep(this.#random.int(commitMaxMs), never);
    if (this.#clock.monotonicMs() < this.#fullUntilMs)
      throw new Error('ENOSPC: no space left on the simulated disk');
  }

  async close(): Promise<void> {}
}
