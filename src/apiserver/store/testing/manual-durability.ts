import type { Durability } from '../durability.ts';
import type { StoreChange } from '../store.ts';

/** Durability in the hands of the test: each batch waits until it is told how it went. */
export class ManualDurability implements Durability {
  /** All that was made durable. */
  readonly persisted: StoreChange[] = [];
  isClosed = false;
  #held: HeldBatch | undefined;

  /** Of the batch that waits; 0 when there is none. */
  get pendingLength(): number {
    return this.#held?.changes.length ?? 0;
  }

  persist(changes: readonly StoreChange[]): Promise<void> {
    if (this.#held !== undefined) throw new Error('two batches at once');
    return new Promise((resolve, reject) => {
      this.#held = { changes, resolve, reject };
    });
  }

  async succeed(): Promise<void> {
    const batch = await this.#take();
    this.persisted.push(...batch.changes);
    batch.resolve();
    await settle();
  }

  async fail(reason: Error): Promise<void> {
    const batch = await this.#take();
    batch.reject(reason);
    await settle();
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  async #take(): Promise<HeldBatch> {
    await settle();
    const held = this.#held;
    if (held === undefined) throw new Error('there is nothing to make durable');
    this.#held = undefined;
    return held;
  }
}

interface HeldBatch {
  readonly changes: readonly StoreChange[];
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** Lets everything happen that can happen by itself. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
