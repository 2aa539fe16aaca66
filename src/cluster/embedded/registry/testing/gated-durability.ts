import type { Durability } from '../../store/durability.ts';

/** Durability behind a gate: while it is shut, what was written waits, and can be let through or fail. */
export class GatedDurability implements Durability {
  #isShut = false;
  #waiting: { readonly resolve: () => void; readonly reject: (reason: Error) => void } | undefined;

  get isHolding(): boolean {
    return this.#waiting !== undefined;
  }

  async persist(): Promise<void> {
    if (!this.#isShut) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject };
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
