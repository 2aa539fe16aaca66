import type { Clock } from './clock.ts';

/**
 * Since when this process has seen the value that each key has now. After a restart the time begins again.
 *
 * Times that other processes write are not used: of two processes whose clocks differ, one may find that a time is over, the other that it is not, and each would
 * undo what the other does.
 */
export class SeenSince<T extends string | number> {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly value: T; readonly sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For how long `value` has been the value of the key. */
  ageMs(key: string, value: T): number {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#seen.get(key);
    const sinceMs = known?.value === value ? known.sinceMs : nowMs;
    this.#seen.set(key, { value, sinceMs });
    return nowMs - sinceMs;
  }

  delete(key: string): void {
    this.#seen.delete(key);
  }
}
