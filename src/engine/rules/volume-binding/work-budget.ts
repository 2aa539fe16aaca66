/**
 * Counts elementary steps of searching across a plan, so that no input makes it run for long. A step is some tens of
 * nanoseconds; what costs more is charged as several.
 */
export class WorkBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** False once there is nothing left. */
  spend(steps: number): boolean {
    this.#left -= steps;
    return this.#left > 0;
  }
}
