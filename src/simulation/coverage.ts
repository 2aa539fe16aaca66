/** Which faults have hit which controllers at which of their calls. */
export class Coverage {
  readonly #phases = new Map<string, Set<string>>();
  readonly #hits = new Map<string, number>();

  /** A process has made a call. */
  called(controllers: string, phase: string): void {
    if (!isWrite(phase)) return;
    const known = this.#phases.get(controllers);
    if (known === undefined) this.#phases.set(controllers, new Set([phase]));
    else known.add(phase);
  }

  /** A fault has hit a call. */
  hit(controllers: string, fault: string, phase: string): void {
    const triple = `${controllers}, ${fault}, ${phase}`;
    this.#hits.set(triple, (this.#hits.get(triple) ?? 0) + 1);
  }

  add({ phases, hits }: CoverageRecord): void {
    for (const [controllers, phase] of phases) this.called(controllers, phase);
    for (const [triple, count] of hits) this.#hits.set(triple, (this.#hits.get(triple) ?? 0) + count);
  }

  /** Plain data, for a message from another thread. */
  get record(): CoverageRecord {
    const phases = [...this.#phases].flatMap(([controllers, known]) =>
      [...known].map((phase) => [controllers, phase] as const),
    );
    return { phases, hits: [...this.#hits] };
  }

  get faults(): number {
    return [...this.#hits.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Triples (controllers, fault, phase) that were hit, sorted. */
  get covered(): readonly string[] {
    return [...this.#hits.keys()].sort();
  }

  /** Triples that could have been hit by one of the faults and were not, sorted. */
  gaps(faults: readonly string[]): readonly string[] {
    const triples = [...this.#phases].flatMap(([controllers, phases]) =>
      [...phases].flatMap((phase) => faults.map((fault) => `${controllers}, ${fault}, ${phase}`)),
    );
    return triples.filter((triple) => !this.#hits.has(triple) && !isImpossible(triple)).sort();
  }
}

/** What one run, or many, have covered. */
export interface CoverageRecord {
  /** Controllers, and a call that they have made. */
  readonly phases: readonly (readonly [string, string])[];
  readonly hits: readonly (readonly [string, number])[];
}

/** Faults hit writes only; Events are written in the background. */
function isWrite(phase: string): boolean {
  return !/^(get|list|watch) /.test(phase) && !/ events/.test(phase);
}

/** Only writes that carry a version can conflict, and bindings are never late. */
function isImpossible(triple: string): boolean {
  return /, conflict, (create|delete|post) |, late-request, post /.test(triple);
}
