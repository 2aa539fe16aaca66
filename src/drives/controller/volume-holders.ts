/** The drives whose ledgers have an entry of one name. */
export interface Holders {
  /** Sorted by the order in which the watch delivered the entries. */
  readonly drives: readonly string[];
  /** False if several entries came from a list: then the order means nothing. */
  readonly isOrdered: boolean;
}

/**
 * Which drives have an entry of which name, in the order of the watch. All watches of a resource deliver changes in the same order, so all
 * controllers agree about which of two entries with one name was first.
 */
export class VolumeHolders {
  readonly #byName = new Map<string, Holders>();

  of(volume: string): Holders {
    return this.#byName.get(volume) ?? none;
  }

  /** A drive's ledger changed from the entries `before` to the entries `after`. `isOrdered` is asked only if it matters. */
  update(
    drive: string,
    before: ReadonlySet<string>,
    after: ReadonlySet<string>,
    isOrdered: () => boolean,
  ): void {
    for (const volume of after) if (!before.has(volume)) this.#add(volume, drive, isOrdered);
    for (const volume of before) if (!after.has(volume)) this.#remove(volume, drive);
  }

  #add(volume: string, drive: string, isOrdered: () => boolean): void {
    const { drives, isOrdered: wasOrdered } = this.of(volume);
    const isFirst = drives.length === 0;
    this.#byName.set(volume, {
      drives: [...drives, drive],
      isOrdered: isFirst || (wasOrdered && isOrdered()),
    });
  }

  #remove(volume: string, drive: string): void {
    const { drives, isOrdered } = this.of(volume);
    const left = drives.filter((other) => other !== drive);
    if (left.length === 0) this.#byName.delete(volume);
    else this.#byName.set(volume, { drives: left, isOrdered: isOrdered || left.length === 1 });
  }
}

const none: Holders = { drives: [], isOrdered: true };
