import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Between two writes of this process that change nothing but the conditions of an object. */
const sayAgainMs = 1_000;

type StatusWithConditions = Readonly<Record<string, unknown>>;

/**
 * Limits how often this process writes a status that differs in its conditions alone. Instances whose caches differ would otherwise replace each
 * other's messages as fast as they can, until the caches agree.
 */
export class ConditionPace {
  readonly #clock: Clock;
  readonly #saidAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  said(name: string): void {
    this.#saidAtMs.set(name, this.#clock.monotonicMs());
  }

  delete(name: string): void {
    this.#saidAtMs.delete(name);
  }

  /** How long to wait before the status is written; 0 if it may be written now. */
  restMs(name: string, before: StatusWithConditions, planned: StatusWithConditions): number {
    const saidAtMs = this.#saidAtMs.get(name);
    if (saidAtMs === undefined) return 0;
    if (!isEqualWhenStored({ ...planned, conditions: [] }, { ...before, conditions: [] })) return 0;
    return Math.max(0, saidAtMs + sayAgainMs - this.#clock.monotonicMs());
  }
}
