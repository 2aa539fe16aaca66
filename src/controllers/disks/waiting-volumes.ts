/**
 * Volumes that wait for bytes, in the order in which they began to wait. A disk that gains room wakes only as many as could fit in it. A volume that
 * was woken and still waits could not use the room: then it is the turn of the next ones.
 */
export class WaitingVolumes {
  readonly #wake: (volume: string) => void;
  readonly #bytes = new Map<string, number>();
  /** Woken since the last gain; each at most once, so that a round ends. */
  readonly #woken = new Set<string>();

  constructor(wake: (volume: string) => void) {
    this.#wake = wake;
  }

  /** Notes that the volume waits for this many bytes on one disk. */
  add(volume: string, bytes: number): void {
    this.#bytes.set(volume, bytes);
    if (this.#woken.has(volume)) this.#take(bytes);
  }

  delete(volume: string): void {
    this.#bytes.delete(volume);
    this.#woken.delete(volume);
  }

  gained(roomBytes: number): void {
    this.#woken.clear();
    this.#take(roomBytes);
  }

  #take(roomBytes: number): void {
    let room = roomBytes;
    for (const [volume, bytes] of this.#bytes) {
      if (room <= 0) return;
      if (bytes > room || this.#woken.has(volume)) continue;
      room -= bytes;
      this.#woken.add(volume);
      this.#wake(volume);
    }
  }
}
