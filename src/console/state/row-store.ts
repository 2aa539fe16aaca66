import { type ConsoleRows, type RowType, rowTypes } from '../wire/rows.ts';

/** A change that streams have to send: the row's newest version, or its removal. */
export interface RowChange {
  readonly type: RowType;
  readonly id: string;
  /** Undefined if the row was removed. */
  readonly stored: StoredRow | undefined;
  /** The row before it was deleted, which decides who may know of it; undefined if it still exists. */
  readonly last: StoredRow | undefined;
}

export interface StoredRow<T extends RowType = RowType> {
  readonly row: ConsoleRows[T];
  /** As JSON, made once for all viewers. */
  readonly text: string;
}

/** So many changes can be repeated for a stream that resumes. A stream that is further behind reads the whole state again. */
const changesKeptMax = 50_000;

interface LoggedChange {
  readonly type: RowType;
  readonly id: string;
  /** Only for a deletion. */
  readonly last: StoredRow | undefined;
}

/**
 * The rows of a cluster, and the order in which they changed. A position is `EPOCH-NUMBER`; the epoch differs in every process, so that a
 * stream from before a restart is recognised.
 */
export class RowStore {
  readonly #epoch: string;
  readonly #changesMax: number;
  readonly #rows = Object.fromEntries(rowTypes.map((type) => [type, new Map<string, StoredRow>()])) as Record<
    RowType,
    Map<string, StoredRow>
  >;
  /** The change with number n is at n - #dropped - 1. */
  #log: LoggedChange[] = [];
  #dropped = 0;

  constructor(epoch: string, changesMax = changesKeptMax) {
    this.#epoch = epoch;
    this.#changesMax = changesMax;
  }

  get position(): string {
    return this.#positionAt(this.#number);
  }

  /** False if the row is the same as before. */
  set<T extends RowType>(type: T, row: ConsoleRows[T]): boolean {
    const text = JSON.stringify(row);
    if (this.#rows[type].get(row.id)?.text === text) return false;
    this.#rows[type].set(row.id, { row, text });
    this.#record({ type, id: row.id, last: undefined });
    return true;
  }

  delete(type: RowType, id: string): boolean {
    const last = this.#rows[type].get(id);
    if (last === undefined) return false;
    this.#rows[type].delete(id);
    this.#record({ type, id, last });
    return true;
  }

  get<T extends RowType>(type: T, id: string): ConsoleRows[T] | undefined {
    return this.#rows[type].get(id)?.row as ConsoleRows[T] | undefined;
  }

  /** All rows of a type. Iterate without awaiting, or accept that later rows are newer. */
  values<T extends RowType>(type: T): Iterable<StoredRow<T>> {
    return this.#rows[type].values() as Iterable<StoredRow<T>>;
  }

  size(type: RowType): number {
    return this.#rows[type].size;
  }

  /** Each row that has changed since the position, once. Undefined if the position is unknown, or too old. */
  since(position: string): readonly RowChange[] | undefined {
    const number = this.#numberOf(position);
    if (number === undefined || number < this.#dropped || number > this.#number) return undefined;
    const newest = new Map<string, LoggedChange>();
    for (let at = number - this.#dropped; at < this.#log.length; at += 1) {
      const change = this.#log[at]!;
      const key = `${change.type} ${change.id}`;
      const last = change.last ?? newest.get(key)?.last;
      newest.set(key, { ...change, last });
    }
    return [...newest.values()].map(({ type, id, last }) => ({
      type,
      id,
      stored: this.#rows[type].get(id),
      last,
    }));
  }

  get #number(): number {
    return this.#dropped + this.#log.length;
  }

  #record(change: LoggedChange): void {
    this.#log.push(change);
    // Twice the bound before it is cut, so that cutting is rare.
    if (this.#log.length < 2 * this.#changesMax) return;
    this.#dropped += this.#log.length - this.#changesMax;
    this.#log = this.#log.slice(-this.#changesMax);
  }

  #positionAt(number: number): string {
    return `${this.#epoch}-${number}`;
  }

  #numberOf(position: string): number | undefined {
    const match = /^(.+)-(\d{1,15})$/.exec(position);
    return match?.[1] === this.#epoch ? Number(match[2]) : undefined;
  }
}
