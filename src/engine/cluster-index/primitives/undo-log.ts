import { assert } from '../../../runtime/assert.ts';

/** The point to which a rollback returns. Close each savepoint once, by `rollback` or `release`. */
export class Savepoint {
  readonly #writes: number;

  constructor(writes: number) {
    this.#writes = writes;
  }

  /** How many writes the log had before it. */
  get writes(): number {
    return this.#writes;
  }
}

/**
 * The undo log of the index. While a savepoint is open, every write records how to undo it. A rollback runs these functions in
 * reverse order, so each sees exactly the state that its write left. Without an open savepoint nothing is recorded.
 */
export class UndoLog {
  readonly #undo: (() => void)[] = [];
  readonly #open: Savepoint[] = [];

  record(undo: () => void): void {
    if (this.#open.length > 0) this.#undo.push(undo);
  }

  savepoint(): Savepoint {
    const savepoint = new Savepoint(this.#undo.length);
    this.#open.push(savepoint);
    return savepoint;
  }

  /** Undoes all writes since the savepoint, which must be the last one opened. */
  rollback(savepoint: Savepoint): void {
    this.#close(savepoint);
    while (this.#undo.length > savepoint.writes) this.#undo.pop()!();
  }

  /** Keeps the writes. An outer savepoint can still undo them. */
  release(savepoint: Savepoint): void {
    this.#close(savepoint);
    if (this.#open.length === 0) this.#undo.length = 0;
  }

  #close(savepoint: Savepoint): void {
    assert(this.#open.at(-1) === savepoint, 'savepoints are closed once, in the reverse order of opening');
    this.#open.pop();
  }
}
