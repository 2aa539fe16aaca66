import { assert } from '../../../runtime/assert.ts';

/** How far back a rollback goes; each is its own, and is closed once, by `rollback` or `release`. */
export class Savepoint {
  readonly #writes: number;

  constructor(writes: number) {
    this.#writes = writes;
  }

  /** How many writes there were before it. */
  get writes(): number {
    return this.#writes;
  }
}

/**
 * The undo log of the index. While a savepoint is open every write leaves behind what takes it back; rolling back runs
 * these in reverse, so each sees exactly the state that its write left. Without a savepoint nothing is kept and a write
 * costs nothing extra.
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

  /** Takes back all writes since the savepoint, which must be the last one opened. */
  rollback(savepoint: Savepoint): void {
    this.#close(savepoint);
    while (this.#undo.length > savepoint.writes) this.#undo.pop()!();
  }

  /** Keeps the writes; an outer savepoint can still take them back. */
  release(savepoint: Savepoint): void {
    this.#close(savepoint);
    if (this.#open.length === 0) this.#undo.length = 0;
  }

  #close(savepoint: Savepoint): void {
    assert(this.#open.at(-1) === savepoint, 'savepoints are closed once, in the reverse order of opening');
    this.#open.pop();
  }
}
