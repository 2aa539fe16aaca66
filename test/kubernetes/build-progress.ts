const reportEveryMs = 10_000;

/** Reports the progress of a build at intervals, as lines in a log. */
export class BuildProgress {
  readonly #name: string;
  readonly #report: (line: string) => void;
  readonly #startedMs = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #fetched = 0;
  #compiled = 0;
  #total: number | undefined;

  constructor(name: string, report: (line: string) => void) {
    this.#name = name;
    this.#report = report;
  }

  start(): void {
    this.#report(`${this.#name}: not in the cache, building`);
    this.#timer = setInterval(() => this.#report(this.#state()), reportEveryMs);
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
    this.#report(`${this.#name}: built in ${this.#seconds()} s`);
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
