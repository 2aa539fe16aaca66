/** A drive in the index: its free bytes change, and lists are sorted by them. */
export interface ListedDrive {
  /** A number that only this drive has; it orders drives with equal free bytes. */
  readonly order: number;
  /** May be below zero, if the capacity fell. Must not change while the drive is in a list. */
  readonly freeBytes: number;
}

/** A chunk of twice this length is split: an insertion moves at most so many drives, and 10,000 drives have about 100 chunks. */
const chunkLength = 128;
const mebibyte = 2 ** 20;

/** Drives sorted by free bytes, in chunks: an update costs the same for ten drives and for 10,000. */
export class DriveList<T extends ListedDrive> {
  /** Ascending; no chunk is empty. */
  readonly #chunks: T[][] = [];
  #length = 0;
  /** The sum of free bytes as two numbers: both are exact, where one would not be. */
  #mebibytes = 0;
  #restBytes = 0;

  get length(): number {
    return this.#length;
  }

  /** The sum of all free bytes; a drive below zero counts as zero. */
  get freeBytes(): bigint {
    return BigInt(this.#mebibytes) * BigInt(mebibyte) + BigInt(this.#restBytes);
  }

  at(position: number): T {
    let chunk = 0;
    let left = position;
    if (position * 2 < this.#length) {
      while (left >= this.#chunks[chunk]!.length) left -= this.#chunks[chunk++]!.length;
      return this.#chunks[chunk]![left]!;
    }
    // Choices read the end of the list.
    chunk = this.#chunks.length - 1;
    left = position - this.#length;
    while (left + this.#chunks[chunk]!.length < 0) left += this.#chunks[chunk--]!.length;
    return this.#chunks[chunk]!.at(left)!;
  }

  insert(drive: T): void {
    const { freeBytes, order } = drive;
    const at = Math.min(this.#chunkOf(freeBytes, order), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) this.#chunks.push([drive]);
    else {
      chunk.splice(positionIn(chunk, freeBytes, order), 0, drive);
      if (chunk.length >= 2 * chunkLength) this.#chunks.splice(at + 1, 0, chunk.splice(chunkLength));
    }
    this.#length += 1;
    this.#count(freeBytes, 1);
  }

  remove(drive: T): void {
    const { freeBytes, order } = drive;
    const at = this.#chunkOf(freeBytes, order);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const position = positionIn(chunk, freeBytes, order);
    if (chunk[position] !== drive) return;
    chunk.splice(position, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#length -= 1;
    this.#count(freeBytes, -1);
  }

  /** The position of the first drive that has at least so many bytes free. */
  firstWith(bytes: number): number {
    const at = this.#chunkOf(bytes, Number.NEGATIVE_INFINITY);
    let position = 0;
    for (let before = 0; before < at; before += 1) position += this.#chunks[before]!.length;
    const chunk = this.#chunks[at];
    return chunk === undefined ? position : position + positionIn(chunk, bytes, Number.NEGATIVE_INFINITY);
  }

  /** The first chunk whose last drive is not before this place; the number of chunks if there is none. */
  #chunkOf(freeBytes: number, order: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = this.#chunks[middle]!;
      if (isBefore(chunk[chunk.length - 1]!, freeBytes, order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #count(freeBytes: number, sign: 1 | -1): void {
    if (freeBytes <= 0) return;
    const rest = freeBytes % mebibyte;
    this.#mebibytes += sign * ((freeBytes - rest) / mebibyte);
    this.#restBytes += sign * rest;
  }
}

/** The position of the first drive of the chunk that is not before this place. */
function positionIn(chunk: readonly ListedDrive[], freeBytes: number, order: number): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(chunk[middle]!, freeBytes, order)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(drive: ListedDrive, freeBytes: number, order: number): boolean {
  return drive.freeBytes < freeBytes || (drive.freeBytes === freeBytes && drive.order < order);
}
