import {
  type ConsoleAbout,
  type ConsoleRows,
  type RowType,
  rowTypes,
  type StateDelta,
} from '../wire/rows.ts';
import { mergedById } from './sorted-rows.ts';

/** Called after changes of some types, at most once a frame. */
type Listener = (changed: ReadonlySet<RowType>) => void;

/** Called with each change of a row, before listeners. */
export type RowObserver<T extends RowType> = (
  before: ConsoleRows[T] | undefined,
  after: ConsoleRows[T] | undefined,
) => void;

interface Table {
  readonly rows: Map<string, ConsoleRows[RowType]>;
  /** Rows sorted by id, from before the changes of the rows whose ids are in `changed`. */
  sorted: ConsoleRows[RowType][];
  changed: Set<string>;
  version: number;
  readonly observers: Set<RowObserver<RowType>>;
}

/** The rows of the cluster in the browser. */
export class PageStore {
  about: ConsoleAbout | undefined;
  readonly #tables = Object.fromEntries(
    rowTypes.map((type): [RowType, Table] => [
      type,
      { rows: new Map(), sorted: [], changed: new Set(), version: 0, observers: new Set() },
    ]),
  ) as Record<RowType, Table>;
  readonly #listeners = new Set<Listener>();
  #changed = new Set<RowType>();
  #isScheduled = false;

  get<T extends RowType>(type: T, id: string): ConsoleRows[T] | undefined {
    return this.#tables[type].rows.get(id) as ConsoleRows[T] | undefined;
  }

  /** All rows by id. The array is a new one after each change. */
  all<T extends RowType>(type: T): readonly ConsoleRows[T][] {
    const table = this.#tables[type];
    if (table.changed.size > 0) {
      table.sorted = mergedById(table.sorted, table.changed, table.rows);
      table.changed = new Set();
    }
    return table.sorted as ConsoleRows[T][];
  }

  size(type: RowType): number {
    return this.#tables[type].rows.size;
  }

  /** Grows with every change of the type. */
  version(type: RowType): number {
    return this.#tables[type].version;
  }

  /** The observer first gets every existing row. The returned function removes it. */
  observe<T extends RowType>(type: T, observer: RowObserver<T>): () => void {
    const { observers, rows } = this.#tables[type];
    for (const row of rows.values()) observer(undefined, row as ConsoleRows[T]);
    observers.add(observer as unknown as RowObserver<RowType>);
    return () => observers.delete(observer as unknown as RowObserver<RowType>);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  upsert<T extends RowType>(type: T, rows: readonly ConsoleRows[T][]): void {
    const table = this.#tables[type];
    for (const row of rows) {
      const before = table.rows.get(row.id);
      table.rows.set(row.id, row);
      table.changed.add(row.id);
      for (const observer of table.observers) observer(before, row);
    }
    if (rows.length > 0) this.#touch(type);
  }

  apply({ upserts, gone }: StateDelta): void {
    for (const type of rowTypes) {
      this.upsert(type, upserts[type] ?? []);
      this.#remove(type, gone[type] ?? []);
    }
  }

  /** Removes every row that is not in `kept`: after the whole state was read again. */
  retain(kept: ReadonlyMap<RowType, ReadonlySet<string>>): void {
    for (const type of rowTypes) {
      const ids = kept.get(type);
      this.#remove(
        type,
        [...this.#tables[type].rows.keys()].filter((id) => ids?.has(id) !== true),
      );
    }
  }

  #remove(type: RowType, ids: readonly string[]): void {
    const table = this.#tables[type];
    for (const id of ids) {
      const before = table.rows.get(id);
      if (before === undefined) continue;
      table.rows.delete(id);
      table.changed.add(id);
      for (const observer of table.observers) observer(before, undefined);
    }
    if (ids.length > 0) this.#touch(type);
  }

  #touch(type: RowType): void {
    const table = this.#tables[type];
    table.version += 1;
    this.#changed.add(type);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A page in the background gets no frames; a timer makes sure that its changes are not collected without end.
    const timer = setTimeout(() => this.#notify(), 1_000);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      this.#notify();
    });
  }

  #notify(): void {
    if (!this.#isScheduled) return;
    this.#isScheduled = false;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const listener of this.#listeners) listener(changed);
  }
}
