import type { Durability } from '../../store/durability.ts';
import type { StoreChange } from '../../store/store.ts';

/** Durability with a gate: while it is shut, writes wait and can be released or failed. */
export class GatedDurability implements Durability {
  #isShut = false;
  #waiting: Waiting | undefined;

  /** The revision that becomes durable when the waiting writes are released. */
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
    this.releaseBatch();
  }

  /** Releases the waiting writes; later ones wait again. */
  releaseBatch(): void {
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
