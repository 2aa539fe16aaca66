import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Between two writes of this process that the other instance may undo. */
const againMs = 1_000;

/**
 * Limits how often this process repeats a write of an object. Instances whose caches differ would otherwise undo each other's writes as fast as they can,
 * until the caches agree.
 */
export class WritePace {
  readonly #clock: Clock;
  readonly #writtenAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  written(name: string): void {
    this.#writtenAtMs.set(name, this.#clock.monotonicMs());
  }

  delete(name: string): void {
    this.#writtenAtMs.delete(name);
  }

  /** How long to wait before the next such write; 0 if it may be sent now. */
  restMs(name: string): number {
    const writtenAtMs = this.#writtenAtMs.get(name);
    return writtenAtMs === undefined ? 0 : Math.max(0, writtenAtMs + againMs - this.#clock.monotonicMs());
  }
}

type StatusWithConditions = Readonly<Record<string, unknown>>;

export function changesOnlyConditions(before: StatusWithConditions, planned: StatusWithConditions): boolean {
  return isEqualWhenStored({ ...planned, conditions: [] }, { ...before, conditions: [] });
}
