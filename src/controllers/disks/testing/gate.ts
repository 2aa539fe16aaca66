import { onTestFinished } from 'vitest';

/** Calls wait at it until it is open. It opens with the end of the test at the latest, so that a test that fails does not hang. */
export class Gate {
  #open = () => {};
  /** Resolves when it is open. */
  readonly opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  constructor() {
    onTestFinished(() => this.open());
  }

  open(): void {
    this.#open();
  }
}
