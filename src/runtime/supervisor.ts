import { onAbort } from './abort.ts';
import { assert } from './assert.ts';
import { type Backoff, exponentialBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import {
  type BackgroundRun,
  type Crash,
  SupervisedTask,
  type TaskContext,
  type TaskStatus,
} from './supervised-task.ts';

/** Equal jitter, so that work that crashes immediately cannot spin. */
const defaultBackoff = exponentialBackoff({ baseMs: 200, maxMs: 30_000, factor: 2, jitter: 'equal' });
const defaultSteadyMs = 60_000;
const defaultStopDeadlineMs = 10_000;

/** Far above the number of tasks that a process needs; work that is started per request or per object would hit it. */
const tasksMax = 10_000;

export interface SupervisorOptions {
  readonly clock: Clock;
  /** For jitter; a separate stream. */
  readonly random: Random;
  /** Called with every crash, for the log. Must neither throw nor wait. */
  readonly onCrash: (crash: Crash) => void;
  /** When it aborts, all work ends, as by `close`; the owner still awaits `close`. */
  readonly signal?: AbortSignal;
  readonly backoff?: Backoff;
  /** A run that lasted this long was healthy, and the back-off starts again from the beginning. */
  readonly steadyMs?: number;
  /** How long `close` and `stop` wait for work to end. */
  readonly stopDeadlineMs?: number;
}

/** The handle of one background task. Disposing it is `stop`, and throws if `stop` returns false. */
export interface BackgroundWork extends AsyncDisposable {
  readonly name: string;
  /** Resolves when the work is over, finished or stopped; never rejects. */
  readonly ended: Promise<void>;
  /** Ends the work and waits; false when it has not ended by the deadline. */
  stop(): Promise<boolean>;
}

export interface SupervisorStatus {
  /** Tasks that are not over, oldest first. */
  readonly tasks: readonly TaskStatus[];
  /** Crashes and restarts so far, including those of tasks that are over. */
  readonly crashes: number;
  readonly restarts: number;
}

/**
 * Owns background work, so that no promise floats: gives each task a name, restarts it with jittered back-off when it
 * throws, counts that, and ends it.
 *
 * 1. `start` may be called at any time, also by work. It returns immediately; the work runs soon after. A name belongs to
 *    one task at a time: if the former task of that name was stopped and has not ended yet, the new work runs when it has.
 * 2. Work that resolves is over and forgotten, except in the totals of `status`.
 * 3. `close` ends all work and returns the names of tasks that did not end. It may be called any number of times, from anywhere
 *    except from work itself, which would wait for its own end. From then on `start` runs nothing and returns a
 *    handle that is over, so callers need not check for a shutdown.
 *
 * Under virtual time the deadlines are virtual too: the driver has to advance the clock for them to pass.
 */
export class Supervisor implements AsyncDisposable {
  readonly #context: TaskContext;
  readonly #stopDeadlineMs: number;
  readonly #running = new Map<string, SupervisedTask>();
  #isClosing = false;
  #closed: Promise<readonly string[]> | undefined;
  #stopListening = () => {};
  #crashes = 0;
  #restarts = 0;

  constructor(options: SupervisorOptions) {
    this.#stopDeadlineMs = options.stopDeadlineMs ?? defaultStopDeadlineMs;
    this.#context = {
      clock: options.clock,
      random: options.random,
      backoff: options.backoff ?? defaultBackoff,
      steadyMs: options.steadyMs ?? defaultSteadyMs,
      onCrash: (crash) => {
        this.#crashes += 1;
        options.onCrash(crash);
      },
      onRestart: () => {
        this.#restarts += 1;
      },
    };
    const { signal } = options;
    if (signal?.aborted) this.#isClosing = true;
    else if (signal) this.#stopListening = onAbort(signal, () => this.#abortAll());
  }

  start(name: string, run: BackgroundRun): BackgroundWork {
    const former = this.#running.get(name);
    assert(former?.isStopping !== false, `background work named ${name} is already running; stop it first`);
    assert(this.#running.size < tasksMax, `more than ${tasksMax} tasks; is one started per object?`);
    const task = new SupervisedTask(name, run, this.#context, former?.ended);
    this.#running.set(name, task);
    if (this.#isClosing) task.abort();
    const ended = task.ended.then(() => {
      if (this.#running.get(name) === task) this.#running.delete(name);
    });
    const stop = () => this.#stop(task);
    const dispose = async () => assertEnded((await stop()) ? [] : [name]);
    return { name, ended, stop, [Symbol.asyncDispose]: dispose };
  }

  /** Ends all work; returns the names of tasks that have not ended by the deadline, normally none. */
  close(): Promise<readonly string[]> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** `close`, for `await using`; throws if a task has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    assertEnded(await this.close());
  }

  status(): SupervisorStatus {
    const tasks = [...this.#running.values()].map((task) => task.status());
    return { tasks, crashes: this.#crashes, restarts: this.#restarts };
  }

  async #close(): Promise<readonly string[]> {
    this.#abortAll();
    this.#stopListening();
    return await this.#awaitEnd([...this.#running.values()]);
  }

  async #stop(task: SupervisedTask): Promise<boolean> {
    task.abort();
    const unfinished = await this.#awaitEnd([task]);
    return unfinished.length === 0;
  }

  #abortAll(): void {
    this.#isClosing = true;
    for (const task of this.#running.values()) task.abort();
  }

  async #awaitEnd(tasks: readonly SupervisedTask[]): Promise<readonly string[]> {
    const waiting = new AbortController();
    const deadline = this.#context.clock.sleep(this.#stopDeadlineMs, waiting.signal);
    await Promise.race([Promise.all(tasks.map((task) => task.ended)), deadline]);
    waiting.abort();
    return tasks.filter((task) => !task.hasEnded).map((task) => task.name);
  }
}

function assertEnded(unfinished: readonly string[]): void {
  assert(unfinished.length === 0, `background work did not end in time: ${unfinished.join(', ')}`);
}
