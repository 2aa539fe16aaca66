const sayEveryMs = 10_000;

/** Reports the progress of a build at intervals, as lines in a log. */
export class BuildProgress {
  readonly #name: string;
  readonly #say: (line: string) => void;
  readonly #startedMs = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #fetched = 0;
  #compiled = 0;
  #total: number | undefined;

  constructor(name: string, say: (line: string) => void) {
    this.#name = name;
    this.#say = say;
  }

  start(): void {
    this.#say(`${this.#name}: building it; the cache has none of this version`);
    this.#timer = setInterval(() => this.#say(this.#state()), sayEveryMs);
  }

  compiling(total: number): void {
    this.#total = total;
  }

  /** A line of output of `go`: a module that it downloads or, with `-v`, a package that it compiles. */
  line(text: string): void {
    if (text.startsWith('go: downloading ')) this.#fetched += 1;
    else if (this.#total !== undefined) this.#compiled += 1;
  }

  done(): void {
    this.#say(`${this.#name}: built in ${this.#seconds()} s`);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #state(): string {
    const what =
      this.#total === undefined
        ? `fetched ${this.#fetched} modules`
        : `compiled ${this.#compiled} of at most ${this.#total} packages`;
    return `${this.#name}: ${what}, ${this.#seconds()} s`;
  }

  #seconds(): number {
    return Math.round((Date.now() - this.#startedMs) / 1000);
  }
}
