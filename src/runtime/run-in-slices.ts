import type { Clock } from './clock.ts';
import { fairTurn } from './fair-turn.ts';

export interface SliceOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** After this time, other work gets a turn. One step may take longer. */
  readonly budgetMs?: number;
  /** The work ends with the signal's reason if it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Lets other work run. */
  readonly turn?: () => Promise<void>;
}

/** Short enough that a server that answers others in between does not seem to hang. */
const budgetMsDefault = 20;

/** Runs a long computation to its end, step by step; other work gets a turn whenever the budget is spent. */
export async function runInSlices<T>(
  steps: Generator<void, T, void>,
  { clock, budgetMs = budgetMsDefault, signal, turn = fairTurn }: SliceOptions,
): Promise<T> {
  signal?.throwIfAborted();
  let sliceStartMs = clock.monotonicMs();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (clock.monotonicMs() - sliceStartMs < budgetMs) continue;
    await turn();
    // The `finally` blocks of the steps revert unfinished changes.
    if (signal?.aborted === true) steps.throw(signal.reason);
    sliceStartMs = clock.monotonicMs();
  }
}

/** Runs the computation to its end without pauses. `onStep` is called with the number of steps that are done. */
export function runToEnd<T>(steps: Generator<void, T, void>, onStep: (done: number) => void = () => {}): T {
  for (let done = 1; ; done += 1) {
    const step = steps.next();
    if (step.done === true) return step.value;
    onStep(done);
  }
}
