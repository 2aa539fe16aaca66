import { Semaphore } from '../../runtime/semaphore.ts';

/** There is too much work already; the same question may be asked again. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Plans share one thread, so more at a time only make each slower. */
const computedMax = 2;
/** Computed and waiting, of all viewers and of one. */
const askedMax = 20;
const askedByViewerMax = 3;

/** Bounds how many plans are computed and wait. */
export class PlanSlots {
  readonly #slots = new Semaphore(computedMax);
  readonly #asked = new Map<string, number>();
  #total = 0;

  /** Throws a `BusyError` if too many plans wait already, and the signal's reason if it aborts first. */
  async run<T>(viewer: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.#asked.get(viewer) ?? 0;
    if (this.#total >= askedMax || own >= askedByViewerMax)
      throw new BusyError('too many plans are being computed; ask again when one has ended');
    this.#asked.set(viewer, own + 1);
    this.#total += 1;
    try {
      return await this.#slots.run(signal, work);
    } finally {
      this.#release(viewer);
    }
  }

  #release(viewer: string): void {
    this.#total -= 1;
    const own = (this.#asked.get(viewer) ?? 1) - 1;
    if (own === 0) this.#asked.delete(viewer);
    else this.#asked.set(viewer, own);
  }
}
