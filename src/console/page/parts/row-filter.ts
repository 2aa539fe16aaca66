import { nextTask } from '../next-task.ts';

/** Rows between two looks at the clock. */
const rowsPerLook = 256;
/** Work between two frames; then the browser may handle input and draw. */
const sliceMs = 8;

interface Question<T> {
  readonly rows: readonly T[];
  readonly text: string;
}

/**
 * Finds the rows that contain every word of a text, in slices, so that no keystroke waits for 50,000 rows. The lower-case text of a row is made
 * once and kept as long as the row itself; a row that changes is another object.
 *
 * A new text abandons the search for the old one. New rows do not: they are searched afterwards. Otherwise the search would never end in
 * a cluster that always changes.
 */
export class RowFilter<T extends object> {
  readonly #textOf: (row: T) => string;
  readonly #onFound: (found: readonly T[], text: string) => void;
  readonly #texts = new WeakMap<T, string>();
  #asked: Question<T> | undefined;
  #isRunning = false;

  constructor(textOf: (row: T) => string, onFound: (found: readonly T[], text: string) => void) {
    this.#textOf = textOf;
    this.#onFound = onFound;
  }

  /** `onFound` is called later, unless the same question was asked last. */
  ask(rows: readonly T[], text: string): void {
    if (this.#asked?.rows === rows && this.#asked.text === text) return;
    this.#asked = { rows, text };
    if (!this.#isRunning) void this.#run();
  }

  /** Cancels the search: nothing is reported until the next search starts. */
  stop(): void {
    this.#asked = undefined;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let answered: Question<T> | undefined;
    while (this.#asked !== undefined && this.#asked !== answered) {
      const question: Question<T> = this.#asked;
      const found = await this.#search(question);
      answered = question;
      if (found !== undefined && this.#asked?.text === question.text) this.#onFound(found, question.text);
    }
    this.#isRunning = false;
  }

  /** Undefined if another text was asked for meanwhile. */
  async #search({ rows, text }: Question<T>): Promise<readonly T[] | undefined> {
    const words = wordsOf(text);
    const found: T[] = [];
    let startedMs = performance.now();
    for (let at = 0; at < rows.length; at += 1) {
      if (at % rowsPerLook === 0 && performance.now() - startedMs >= sliceMs) {
        await nextTask();
        if (this.#asked?.text !== text) return undefined;
        startedMs = performance.now();
      }
      const row = rows[at]!;
      const own = this.#lowerCaseOf(row);
      if (words.every((word) => own.includes(word))) found.push(row);
    }
    return found;
  }

  #lowerCaseOf(row: T): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = this.#textOf(row).toLowerCase();
    this.#texts.set(row, text);
    return text;
  }
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}
