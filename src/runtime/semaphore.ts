import { onAbort } from './abort.ts';
import { assert } from './assert.ts';

/** Counting semaphore, first in first out. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    assert(count > 0, 'a semaphore needs at least one slot');
    this.#free = count;
  }

  /** Runs `work` when there is a slot, and releases the slot however it ends. Throws the signal's reason if it aborts first. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#giveBack();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const isMine = await new Promise<boolean>((resolve) => {
      const go = () => {
        this.#waiting.delete(go);
        stopListening();
        resolve(true);
      };
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(go);
        resolve(false);
      });
      this.#waiting.add(go);
    });
    if (!isMine) throw signal.reason;
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }
}
