/** A drive in the index: its free bytes change, and lists are sorted by them. */
export interface ListedDrive {
  /** A number of its own, which orders drives with equal free bytes. */
  readonly order: number;
  /** May be below zero, if the capacity fell. Must not change while the drive is in a list. */
  readonly freeBytes: number;
}

/** Drives sorted by free bytes. Inserting moves half of the list, which is a copy of memory: microseconds for 10,000 drives. */
export class DriveList<T extends ListedDrive> {
  /** Ascending. */
  readonly #drives: T[] = [];
  #freeBytes = 0n;

  get length(): number {
    return this.#drives.length;
  }

  /** The sum of all free bytes; a drive below zero counts as zero. */
  get freeBytes(): bigint {
    return this.#freeBytes;
  }

  at(position: number): T {
    return this.#drives[position]!;
  }

  insert(drive: T): void {
    this.#drives.splice(this.#positionOf(drive), 0, drive);
    if (drive.freeBytes > 0) this.#freeBytes += BigInt(drive.freeBytes);
  }

  remove(drive: T): void {
    const position = this.#positionOf(drive);
    if (this.#drives[position] !== drive) return;
    this.#drives.splice(position, 1);
    if (drive.freeBytes > 0) this.#freeBytes -= BigInt(drive.freeBytes);
  }

  /** The position of the first drive that has at least so many bytes free. */
  firstWith(bytes: number): number {
    let low = 0;
    let high = this.#drives.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#drives[middle]!.freeBytes < bytes) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #positionOf({ freeBytes, order }: T): number {
    let low = 0;
    let high = this.#drives.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#drives[middle]!;
      const isBefore = other.freeBytes < freeBytes || (other.freeBytes === freeBytes && other.order < order);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
