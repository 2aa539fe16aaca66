/** The text of an expression by code points, in which CEL counts columns and sizes. */
export class Source {
  readonly text: string;
  readonly #points: readonly string[];
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.#points = Array.from(text);
    const starts = [0];
    this.#points.forEach((point, index) => {
      if (point === '\n') starts.push(index + 1);
    });
    this.#lineStarts = starts;
  }

  get size(): number {
    return this.#points.length;
  }

  at(offset: number): string | undefined {
    return this.#points[offset];
  }

  slice(from: number, to: number): string {
    return this.#points.slice(from, to).join('');
  }

  /** Lines count from 1, columns from 0. */
  locate(offset: number): Location {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) };
  }

  line(number: number): string | undefined {
    const start = this.#lineStarts[number - 1];
    if (start === undefined) return undefined;
    const next = this.#lineStarts[number];
    return this.slice(start, next === undefined ? this.#points.length : next - 1);
  }
}

export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The location of an issue of the expression as a whole. */
export const noLocation: Location = { line: -1, column: -1 };

interface Issue {
  readonly location: Location;
  readonly message: string;
}

const issuesMax = 100;
const snippetLengthMax = 16_384;

/** The issues of an expression, printed as cel-go prints them: location, message, and the line with a mark below it. */
export class Issues {
  readonly #source: Source;
  readonly #issues: Issue[] = [];
  #count = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  get count(): number {
    return this.#count;
  }

  report(offset: number, message: string): void {
    this.reportAt(this.#source.locate(offset), message);
  }

  reportAt(location: Location, message: string): void {
    this.#count++;
    if (this.#count <= issuesMax) this.#issues.push({ location, message });
  }

  toString(): string {
    const sorted = [...this.#issues].sort(
      (a, b) => a.location.line - b.location.line || a.location.column - b.location.column,
    );
    const shown = sorted.map((issue) => this.#display(issue));
    if (this.#count > issuesMax) shown.push(`${this.#count - issuesMax} more errors were truncated`);
    return shown.join('\n');
  }

  #display({ location, message }: Issue): string {
    const head = `ERROR: <input>:${location.line}:${location.column + 1}: ${message}`;
    const line = this.#source.line(location.line);
    if (line === undefined || Buffer.byteLength(line) > snippetLengthMax) return head;
    const points = Array.from(line.replaceAll('\t', ' '));
    let marks = '';
    for (let index = 0; index < location.column && index < points.length; index++) {
      marks += isWide(points[index]) ? '\uff0e' : '.';
    }
    marks += isWide(points[location.column]) ? '\uff3e' : '^';
    return `${head}\n | ${points.join('')}\n | ${marks}`;
  }
}

function isWide(point: string | undefined): boolean {
  return point !== undefined && (point.codePointAt(0) ?? 0) >= 0x80;
}
