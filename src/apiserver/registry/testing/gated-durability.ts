import type { Durability } from '../../store/durability.ts';
import type { StoreChange } from '../../store/store.ts';

/** Durability behind a gate: while it is shut, what was written waits, and can be let through or fail. */
export class GatedDurability implements Durability {
  #isShut = false;
  #waiting: Waiting | undefined;

  /** Up to which revision everything would be durable if what waits were let through. */
  get waitingRevision(): number | undefined {
    return this.#waiting?.revision;
  }

  async persist(_changes: readonly StoreChange[], revision: number): Promise<void> {
    if (!this.#isShut) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting = { revision, resolve, reject };
    });
  }

  shut(): void {
    this.#isShut = true;
  }

  open(): void {
    this.#isShut = false;
    this.letThrough();
  }

  /** What waits is durable; what comes after it waits again. */
  letThrough(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  fail(reason: Error): void {
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  }

  async close(): Promise<void> {}
}

interface Waiting {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}
