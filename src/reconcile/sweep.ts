import { onAbort } from '../runtime/abort.ts';
import type { Counter } from '../runtime/metrics.ts';
import type { ControllerContext } from './controller.ts';
import type { WorkQueue } from './work-queue.ts';
import type { Reconcile } from './workers.ts';

/** Everything is woken by events; this only finds what should have been. */
const sweepEveryMs = 5 * 60_000;
/** A round is spread over this time if it has many looks: others get their turn, and the recorder of Events can follow. */
const roundMs = sweepEveryMs / 2;
const pauseMinMs = 1;
const pauseMaxMs = 20;
/** While the controller is busy the sweep waits; a round for which there was never time is left out. */
const quietWaitMs = 100;
const quietWaitsMax = 600;

export interface SweepOptions {
  readonly controller: string;
  readonly queue: WorkQueue;
  /** What is worth a look, from the caches. */
  readonly keys: () => Iterable<string>;
}

/**
 * Looks at everything once in a while, for two ends: what a lost event left undone is done, and counted as rescued, which must never
 * happen; and what is told of objects that still wait is told again, before the Events of the last time expire.
 *
 * 1. `over` goes around the controller's reconcile, `run` beside its workers.
 * 2. The controller says `wrote` before each write. It is a rescue if nothing but the sweep can have led to it: the sweep looks at
 *    one key at a time, while nobody works and nothing waits, and a key that is tried again by itself is left alone.
 */
export class Sweep {
  readonly #clock: ControllerContext['clock'];
  readonly #options: SweepOptions;
  readonly #rescued: Counter;
  #look: Look | undefined;

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
        if (this.#look?.key === key) this.#look.end();
      }
    };
  }

  beforeWrite(): void {
    const look = this.#look;
    if (look === undefined || look.isCounted) return;
    const { processing, adds } = this.#options.queue.metrics();
    // Somebody else is at work, or an event came during the look: it may have been theirs.
    if (processing !== 1 || adds !== look.adds) return;
    look.isCounted = true;
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
      await this.#lookAt(key, signal);
      await this.#clock.sleep(pauseMs, signal);
    }
  }

  /** False where there was no quiet, or the end came. */
  async #quiet(signal: AbortSignal): Promise<boolean> {
    for (let waits = 0; waits < quietWaitsMax && !signal.aborted; waits += 1) {
      const { depth, processing } = this.#options.queue.metrics();
      if (depth + processing === 0) return true;
      await this.#clock.sleep(quietWaitMs, signal);
    }
    return false;
  }

  async #lookAt(key: string, signal: AbortSignal): Promise<void> {
    const { queue } = this.#options;
    await new Promise<void>((end) => {
      const stopListening = onAbort(signal, end);
      queue.add(key);
      const ended = () => {
        stopListening();
        end();
      };
      this.#look = { key, adds: queue.metrics().adds, isCounted: false, end: ended };
    });
    this.#look = undefined;
  }
}

interface Look {
  readonly key: string;
  /** How many keys the queue had taken in when the look began. */
  readonly adds: number;
  isCounted: boolean;
  readonly end: () => void;
}

/** What sweeps had to do that an event should have led to, by controller. */
export function rescuedCounter(metrics: ControllerContext['metrics']): Counter {
  return metrics.counter(
    'stowage_sweep_rescued_total',
    'Objects that a sweep found undone though an event should have led to them. Anything but 0 is a bug.',
    ['controller'],
  );
}
