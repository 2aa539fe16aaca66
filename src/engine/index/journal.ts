import { assert } from '../../runtime/assert.ts';

/** How far back a rollback goes. */
declare const brand: unique symbol;
export type Savepoint = number & { readonly [brand]: 'Savepoint' };

/**
 * The undo log of the index. While a savepoint is open every write leaves behind what takes it back; rolling back runs
 * these in reverse, so each sees exactly the state that its write left. Without a savepoint nothing is kept and a write
 * costs nothing extra.
 */
export class Journal {
  readonly #undo: (() => void)[] = [];
  readonly #open: Savepoint[] = [];

  record(undo: () => void): void {
    if (this.#open.length > 0) this.#undo.push(undo);
  }

  savepoint(): Savepoint {
    const mark = this.#undo.length as Savepoint;
    this.#open.push(mark);
    return mark;
  }

  /** Takes back all writes since the savepoint, which must be the last one opened. */
  rollback(mark: Savepoint): void {
    this.#close(mark);
    while (this.#undo.length > mark) this.#undo.pop()!();
  }

  /** Keeps the writes; an outer savepoint can still take them back. */
  release(mark: Savepoint): void {
    this.#close(mark);
    if (this.#open.length === 0) this.#undo.length = 0;
  }

  #close(mark: Savepoint): void {
    assert(this.#open.at(-1) === mark, 'savepoints are closed in the reverse order of opening');
    this.#open.pop();
  }
}
