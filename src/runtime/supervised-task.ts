import { setMaxListeners } from 'node:events';
import { assert } from './assert.ts';
import type { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/**
 * Work that runs in the background. It resolves when it has finished for good, or soon after `signal` aborts; it
 * rejects or throws when it failed and should run again. It may run any number of times, never concurrently.
 */
export type BackgroundRun = (signal: AbortSignal) => Promise<void>;

export interface TaskStatus {
  readonly name: string;
  readonly state: 'running' | 'backing-off' | 'stopping' | 'ended';
  /** How often it threw. */
  readonly crashes: number;
  /** How often it was restarted after that. */
  readonly restarts: number;
  /** The last error that it threw. */
  readonly lastError: unknown;
}

/** One crash, for the log. */
export interface Crash {
  readonly name: string;
  readonly error: unknown;
  readonly crashes: number;
  /** When it will be restarted; undefined if it was stopping anyway. */
  readonly restartInMs: number | undefined;
}

export interface TaskContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  /** A run that lasted this long was healthy: its crash counts as the first again. */
  readonly steadyMs: number;
  onCrash(crash: Crash): void;
  onRestart(): void;
}

/**
 * One background task and its restarts. The supervisor starts it by constructing it; `run` is first called
 * after that, and never once `abort` has been called. `ended` resolves when no run is left and never rejects; it
 * includes `former`, a task of the same name whose end the first run waits for.
 */
export class SupervisedTask {
  readonly name: string;
  readonly ended: Promise<void>;
  readonly #run: BackgroundRun;
  readonly #context: TaskContext;
  readonly #controller = new AbortController();
  #phase: 'running' | 'backing-off' | 'ended' = 'running';
  #crashes = 0;
  #restarts = 0;
  #lastError: unknown;

  constructor(name: string, run: BackgroundRun, context: TaskContext, former?: Promise<void>) {
    this.name = name;
    this.#run = run;
    this.#context = context;
    // Work passes its signal to any number of requests and waits; Node would warn of a leak at the eleventh.
    setMaxListeners(0, this.#controller.signal);
    this.ended = (former ?? Promise.resolve()).then(() => this.#supervise(this.#controller.signal));
  }

  abort(): void {
    this.#controller.abort();
  }

  get hasEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** It was aborted, and has not ended yet. */
  get isStopping(): boolean {
    return this.#controller.signal.aborted && !this.hasEnded;
  }

  status(): TaskStatus {
    return {
      name: this.name,
      state: this.isStopping ? 'stopping' : this.#phase,
      crashes: this.#crashes,
      restarts: this.#restarts,
      lastError: this.#lastError,
    };
  }

  /** Unbounded on purpose: background work continues until it finishes or is stopped, and every restart waits. */
  async #supervise(signal: AbortSignal): Promise<void> {
    const { clock, random, backoff, steadyMs } = this.#context;
    let attempt = 0;
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      if (await this.#runOnce(signal)) break;
      if (clock.monotonicMs() - startedMs >= steadyMs) attempt = 0;
      const delayMs = backoff.delayMs(attempt, random);
      attempt += 1;
      this.#reportCrash(signal.aborted ? undefined : delayMs);
      this.#phase = 'backing-off';
      await clock.sleep(delayMs, signal);
      if (!signal.aborted) this.#countRestart();
    }
    this.#phase = 'ended';
  }

  /** True when the work finished, false when it crashed. */
  async #runOnce(signal: AbortSignal): Promise<boolean> {
    assert(this.#phase === 'running', `${this.name} would run while it is ${this.#phase}`);
    try {
      await this.#run(signal);
      return true;
    } catch (error) {
      if (isCausedByAbort(error, signal)) return true;
      this.#crashes += 1;
      this.#lastError = error;
      return false;
    }
  }

  /** A log that fails must not take the work down with it; its error is kept for `status`. */
  #reportCrash(restartInMs: number | undefined): void {
    const crash: Crash = { name: this.name, error: this.#lastError, crashes: this.#crashes, restartInMs };
    try {
      this.#context.onCrash(crash);
    } catch (cause) {
      this.#lastError = new Error(`the crash of ${this.name} could not be reported`, { cause });
    }
  }

  #countRestart(): void {
    this.#phase = 'running';
    this.#restarts += 1;
    this.#context.onRestart();
  }
}

/** Work should resolve on abort; many platform calls reject instead, and that is not a crash. */
function isCausedByAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error instanceof Error && error.name === 'AbortError';
}
