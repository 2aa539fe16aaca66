import { type Clock, sleepOn, type Timer } from './clock.ts';

/**
 * The clock of one process among several. The process can freeze, as it does when it is swapped out or its machine is moved:
 * time passes without it, and callbacks that came due meanwhile run when it thaws, in order.
 */
export class FreezableClock implements Clock {
  readonly #clock: Clock;
  /** Callbacks that came due while frozen; undefined while it runs. */
  #missed: (() => void)[] | undefined;
  #wallOffsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  freeze(): void {
    this.#missed ??= [];
  }

  thaw(): void {
    const missed = this.#missed ?? [];
    this.#missed = undefined;
    for (const wake of missed) this.#clock.after(0, wake);
  }

  get isFrozen(): boolean {
    return this.#missed !== undefined;
  }

  /** Sets the wall clock of this process forward or back. Timers and monotonic time are not affected. */
  shiftWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  after(ms: number, callback: () => void): Timer {
    let isPending = true;
    const wake = () => {
      if (!isPending) return;
      if (this.#missed !== undefined) {
        this.#missed.push(wake);
        return;
      }
      isPending = false;
      callback();
    };
    const timer = this.#clock.after(ms, wake);
    const cancel = () => {
      isPending = false;
      timer.cancel();
    };
    return { cancel };
  }
}
