import type { Durability } from '../durability.ts';
import type { StoreChange } from '../store.ts';

/** Durability controlled by the test: each batch waits until the test decides its result. */
export class ManualDurability implements Durability {
  /** All changes made durable. */
  readonly persisted: StoreChange[] = [];
  isClosed = false;
  #held: HeldBatch | undefined;

  /** The length of the pending batch; 0 if there is none. */
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

/** Lets all pending callbacks run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
