import { onAbort } from '../runtime/abort.ts';
import type { CounterMetric } from '../runtime/metrics.ts';
import type { ControllerContext } from './controller.ts';
import type { WorkQueue } from './work-queue.ts';
import type { Reconcile } from './workers.ts';

/** All work starts from events; the sweep only finds work whose event was missed. */
const sweepEveryMs = 5 * 60_000;
/** A round with many checks is spread over this time, so that other work continues and the event recorder can keep up. */
const roundMs = sweepEveryMs / 2;
const pauseMinMs = 1;
const pauseMaxMs = 20;
/** The sweep waits while the controller is busy, and skips a round in which it always is. */
const quietWaitMs = 100;
const quietWaitsMax = 600;

export interface SweepOptions {
  readonly controller: string;
  readonly queue: WorkQueue;
  /** The keys to check, from the caches. */
  readonly keys: () => Iterable<string>;
}

/**
 * Checks every object periodically, for two purposes: it does work that a lost event left undone, and counts it as rescued, which must
 * never happen; and it repeats the Events of objects that still wait, before the earlier ones expire.
 *
 * 1. `wrap` goes around the controller's reconcile function, and `run` runs beside its workers.
 * 2. The controller calls `beforeWrite` before each write. The write is a rescue if only the sweep can have caused it: the sweep checks
 *    one key at a time, while no worker is busy and the queue is empty, and skips keys that the queue retries.
 */
export class Sweep {
  readonly #clock: ControllerContext['clock'];
  readonly #options: SweepOptions;
  readonly #rescued: CounterMetric;
  #check: SweepCheck | undefined;

  constructor({ clock, metrics }: Pick<ControllerContext, 'clock' | 'metrics'>, options: SweepOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#rescued = rescuedCounter(metrics);
    this.#rescued.add({ controller: options.controller }, 0);
  }

  wrap(reconcile: Reconcile): Reconcile {
    return async (key, signal) => {
      try {
        return await reconcile(key, signal);
      } finally {
        if (this.#check?.key === key) this.#check.end();
      }
    };
  }

  beforeWrite(): void {
    const check = this.#check;
    if (check === undefined || check.isCounted) return;
    const { processing, adds } = this.#options.queue.metrics();
    // Another worker is busy, or an event arrived during the check: the write may be theirs.
    if (processing !== 1 || adds !== check.adds) return;
    check.isCounted = true;
    this.#rescued.add({ controller: this.#options.controller });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(sweepEveryMs, signal);
      await this.#sweep(signal);
    }
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const keys = [...this.#options.keys()];
    const pauseMs = Math.max(pauseMinMs, Math.min(pauseMaxMs, roundMs / keys.length));
    for (const key of keys) {
      if (!(await this.#quiet(signal))) return;
      if (this.#options.queue.failures(key) > 0) continue;
      await this.#checkKey(key, signal);
      await this.#clock.sleep(pauseMs, signal);
    }
  }

  /** False if the controller was never idle, or `signal` aborted. */
  async #quiet(signal: AbortSignal): Promise<boolean> {
    for (let waits = 0; waits < quietWaitsMax && !signal.aborted; waits += 1) {
      const { depth, processing } = this.#options.queue.metrics();
      if (depth + processing === 0) return true;
      await this.#clock.sleep(quietWaitMs, signal);
    }
    return false;
  }

  async #checkKey(key: string, signal: AbortSignal): Promise<void> {
    const { queue } = this.#options;
    await new Promise<void>((end) => {
      const stopListening = onAbort(signal, end);
      queue.add(key);
      const ended = () => {
        stopListening();
        end();
      };
      this.#check = { key, adds: queue.metrics().adds, isCounted: false, end: ended };
    });
    this.#check = undefined;
  }
}

interface SweepCheck {
  readonly key: string;
  /** How many keys the queue had accepted when the check started. */
  readonly adds: number;
  isCounted: boolean;
  readonly end: () => void;
}

/** Work that sweeps had to do although an event should have caused it, by controller. */
export function rescuedCounter(metrics: ControllerContext['metrics']): CounterMetric {
  return metrics.counter(
    'stowage_sweep_rescued_total',
    'Objects that a sweep had to reconcile although an event should have caused it. Anything but 0 is a bug.',
    ['controller'],
  );
}
