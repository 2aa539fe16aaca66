/**
 * Limits the search steps of one plan, so that no input makes it run for long. A step takes some tens of nanoseconds; more expensive
 * operations count as several steps.
 */
export class WorkBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Returns false once the budget is spent. */
  spend(steps: number): boolean {
    this.#left -= steps;
    return this.#left > 0;
  }
}
