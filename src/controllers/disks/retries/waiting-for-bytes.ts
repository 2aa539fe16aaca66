/**
 * Volumes or images (owners) that wait for free bytes on one disk, in the order in which they began to wait. A disk with more free bytes wakes only as many as could
 * fit on it. An owner that was woken and still waits could not use the bytes: then the next ones are woken.
 */
export class WaitingForBytes {
  readonly #wake: (owner: string) => void;
  readonly #bytes = new Map<string, number>();
  /** The owners that were woken since the last gain: each at most once, so that a round ends. */
  readonly #woken = new Set<string>();

  constructor(wake: (owner: string) => void) {
    this.#wake = wake;
  }

  /** Records that the owner waits for this many bytes. */
  add(owner: string, bytes: number): void {
    this.#bytes.set(owner, bytes);
    if (this.#woken.has(owner)) this.#take(bytes);
  }

  delete(owner: string): void {
    this.#bytes.delete(owner);
    this.#woken.delete(owner);
  }

  gained(freeBytes: number): void {
    this.#woken.clear();
    this.#take(freeBytes);
  }

  #take(freeBytes: number): void {
    let remaining = freeBytes;
    for (const [owner, bytes] of this.#bytes) {
      if (remaining <= 0) return;
      if (bytes > remaining || this.#woken.has(owner)) continue;
      remaining -= bytes;
      this.#woken.add(owner);
      this.#wake(owner);
    }
  }
}
