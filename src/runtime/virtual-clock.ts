import { assert } from './assert.ts';
import { type Clock, checkedDelayMs, sleepOn, type Timer } from './clock.ts';

/** The default start of a simulation's wall clock: a round date, so that output is easy to read. */
const defaultStartMs = Date.UTC(2025, 0, 1);

/** More timers than this in one `advance` means that one re-arms itself without delay; a day of a busy cluster fits. */
const advanceStepsMax = 10_000_000;

/**
 * A clock that stands still until `advance` is called, for deterministic simulation.
 *
 * 1. Code under simulation uses it as a `Clock` and cannot distinguish it from a real one.
 * 2. The driver, one at a time, calls `advance` or `runUntilIdle` and awaits it. Timers fire one by one in order of
 *    due time, then of creation, each at exactly its due time; a timer set meanwhile takes its place in that order.
 * 3. Before the first and after each timer, everything that is ready to run runs to the point where it waits again,
 *    however long its chain of promises. So two runs of the same program are identical, step by step.
 *
 * Anything that waits for something other than this clock (a socket, a file, a worker thread) is outside virtual time: the clock does
 * not wait for it, unless `settle` does. A timer callback that throws ends the `advance` with its error; the clock stays usable.
 */
export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #wallOriginMs: number;
  #isDriven = false;
  readonly #settle: () => Promise<void>;
  /** Pending timers, next one first. Sorted by due time; equal ones stay in order of creation. */
  readonly #timers: VirtualTimer[] = [];

  /** `settle` resolves when no task is ready to run; a driver whose program also waits for sockets or files passes its own. */
  constructor(startMs: number = defaultStartMs, settle: () => Promise<void> = settleJobs) {
    this.#wallOriginMs = startMs;
    this.#settle = settle;
  }

  nowMs(): number {
    return this.#wallOriginMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Rounds up to whole milliseconds, as a machine does: a fraction that floating-point rounding leaves may be too short to advance the clock. */
  after(ms: number, callback: () => void): Timer {
    const dueMs = this.#elapsedMs + Math.ceil(checkedDelayMs(ms));
    const timer: VirtualTimer = { dueMs, callback, isPending: true };
    this.#timers.splice(this.#countDueBy(timer.dueMs), 0, timer);
    return { cancel: () => this.#cancel(timer) };
  }

  /** Timers and sleeps that have neither fired nor been cancelled; 0 after a clean shutdown. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Moves time forward by `ms`, firing what comes due up to and including the last instant. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + checkedDelayMs(ms);
    const allFired = await this.#drive(endMs, advanceStepsMax);
    assert(allFired, `${advanceStepsMax} timers fired in one advance; does one re-arm itself without delay?`);
    this.#elapsedMs = endMs;
  }

  /**
   * Fires timers, moving time from one to the next, until none is pending or `stepsMax` have fired. True when none is
   * pending. With a `stepsMax` of 1 it is a single step, for drivers that check something after each.
   */
  async runUntilIdle(stepsMax: number): Promise<boolean> {
    return await this.#drive(Number.POSITIVE_INFINITY, stepsMax);
  }

  /** Sets the wall clock forward or back, as an administrator or NTP would. Monotonic time and timers are not affected. */
  shiftWall(ms: number): void {
    this.#wallOriginMs += ms;
  }

  /** True when every timer due by `endMs` has fired, false when `stepsMax` came first. */
  async #drive(endMs: number, stepsMax: number): Promise<boolean> {
    assert(!this.#isDriven, 'a virtual clock has one driver: await the advance in progress before the next');
    this.#isDriven = true;
    try {
      await this.#settle();
      for (let steps = 0; this.#countDueBy(endMs) > 0; steps += 1) {
        if (steps >= stepsMax) return false;
        this.#fireNext();
        await this.#settle();
      }
      return true;
    } finally {
      this.#isDriven = false;
    }
  }

  #fireNext(): void {
    const timer = this.#timers.shift();
    assert(timer !== undefined, 'no timer is pending');
    assert(timer.dueMs >= this.#elapsedMs, 'virtual time would go back');
    this.#elapsedMs = timer.dueMs;
    timer.isPending = false;
    timer.callback();
  }

  #cancel(timer: VirtualTimer): void {
    if (!timer.isPending) return;
    timer.isPending = false;
    const index = this.#timers.indexOf(timer, this.#countDueBefore(timer.dueMs));
    assert(index >= 0, 'a pending timer must be in the list');
    this.#timers.splice(index, 1);
  }

  #countDueBy(ms: number): number {
    return partitionPoint(this.#timers, (timer) => timer.dueMs <= ms);
  }

  #countDueBefore(ms: number): number {
    return partitionPoint(this.#timers, (timer) => timer.dueMs < ms);
  }
}

interface VirtualTimer {
  readonly dueMs: number;
  readonly callback: () => void;
  isPending: boolean;
}

/** How many items at the start satisfy `holds`, which must be true up to some point and false after it. */
function partitionPoint<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Node empties the queue of promise jobs, including those that they add, before it runs the next immediate. */
function settleJobs(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
