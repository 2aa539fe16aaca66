import { type Clock, sleepOn, type Timer } from '../../runtime/clock.ts';

/**
 * The clock of one process among several. The process can freeze, as it does when it is swapped out or its machine is moved:
 * time passes without it, and callbacks that came due meanwhile run when it thaws, in order.
 */
export class FreezableClock implements Clock {
  readonly #clock: Clock;
  /** Callbacks that came due while frozen; undefined while it runs. */
  #missed: (() => void)[] | undefined;

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

  nowMs(): number {
    return this.#clock.nowMs();
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
