import { fairTurn } from './fair-turn.ts';

/** Takes a few milliseconds to parse. */
const sliceBytesDefault = 512 * 1024;

/** Divides work on many bytes into slices between which other work gets a turn. */
export class WorkSlices {
  readonly #sliceBytes: number;
  #bytes = 0;

  constructor(sliceBytes: number = sliceBytesDefault) {
    this.#sliceBytes = sliceBytes;
  }

  /** Called after each piece of work. A promise to await before the next one, if the slice is complete. */
  add(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < this.#sliceBytes) return undefined;
    this.#bytes = 0;
    return fairTurn();
  }
}
