/**
 * Looks for an order of operations that a sequential object could have produced and that respects real time: the search
 * of Wing and Gong with Lowe's memory of configurations that were tried.
 */
export interface TimedOperation {
  readonly startMs: number;
  /** For an optional operation: the last moment at which it can have taken effect. */
  readonly endMs: number;
  /** Whether the operation may have had no effect at all. */
  readonly isOptional: boolean;
}

/** The state after an operation, or the reason why the operation cannot have happened in the state before. */
export type Step<S> =
  | { readonly ok: true; readonly state: S }
  | { readonly ok: false; readonly reason: string };

export interface SequentialModel<O, S> {
  readonly initial: S;
  step(state: S, operation: O): Step<S>;
  /** Equal for equal states. */
  keyOf(state: S): string;
}

export type SearchResult<O, S> =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** The longest order that was found, and the state at its end. */
      readonly ordered: readonly O[];
      readonly state: S;
      /** The operations that had to be next, each with the reason why it cannot be. */
      readonly blocked: readonly { readonly operation: O; readonly reason: string }[];
    };

export function findLinearization<O extends TimedOperation, S>(
  operations: readonly O[],
  model: SequentialModel<O, S>,
): SearchResult<O, S> {
  return new Search(operations, model).run();
}

interface Frame<O, S> {
  readonly state: S;
  /** The newest start of an operation that is in the order: no later operation takes effect before. */
  readonly latestStartMs: number;
  readonly candidates: readonly O[];
  next: number;
}

class Search<O extends TimedOperation, S> {
  readonly #model: SequentialModel<O, S>;
  readonly #required: readonly O[];
  readonly #optional: readonly O[];
  readonly #ordered: O[] = [];
  readonly #isOrdered = new Set<O>();
  readonly #tried = new Set<string>();
  /** All required operations before this index are ordered. */
  #first = 0;
  /** How many required operations are ordered. */
  #requiredCount = 0;
  #deepest: { readonly ordered: readonly O[]; readonly state: S } | undefined;

  constructor(operations: readonly O[], model: SequentialModel<O, S>) {
    this.#model = model;
    const sorted = [...operations].sort((a, b) => a.startMs - b.startMs);
    this.#required = sorted.filter(({ isOptional }) => !isOptional);
    this.#optional = sorted.filter(({ isOptional }) => isOptional);
  }

  run(): SearchResult<O, S> {
    const frames = [this.#frame(this.#model.initial, Number.NEGATIVE_INFINITY)];
    for (;;) {
      const frame = frames.at(-1);
      if (frame === undefined) return this.#failure();
      if (this.#first === this.#required.length) return { ok: true };
      const next = this.#advance(frame);
      if (next !== undefined) frames.push(next);
      else {
        frames.pop();
        this.#takeBack();
      }
    }
  }

  /** Orders the next possible candidate of the frame; undefined if there is none. */
  #advance(frame: Frame<O, S>): Frame<O, S> | undefined {
    while (frame.next < frame.candidates.length) {
      const operation = frame.candidates[frame.next]!;
      frame.next += 1;
      const step = this.#model.step(frame.state, operation);
      if (!step.ok) continue;
      this.#append(operation);
      const key = `${this.#configuration()}|${this.#model.keyOf(step.state)}`;
      if (!this.#tried.has(key)) {
        this.#tried.add(key);
        return this.#frame(step.state, Math.max(frame.latestStartMs, operation.startMs));
      }
      this.#takeBack();
    }
    return undefined;
  }

  #frame(state: S, latestStartMs: number): Frame<O, S> {
    const length = this.#deepest?.ordered.length ?? -1;
    if (this.#ordered.length > length) this.#deepest = { ordered: [...this.#ordered], state };
    return { state, latestStartMs, candidates: this.#candidates(latestStartMs), next: 0 };
  }

  /** The operations that may be next: none that is left ended before they began. */
  #candidates(latestStartMs: number): O[] {
    const candidates: O[] = [];
    let earliestEndMs = Number.POSITIVE_INFINITY;
    for (let index = this.#first; index < this.#required.length; index += 1) {
      const operation = this.#required[index]!;
      if (operation.startMs > earliestEndMs) break;
      if (this.#isOrdered.has(operation)) continue;
      candidates.push(operation);
      earliestEndMs = Math.min(earliestEndMs, operation.endMs);
    }
    const optional = this.#optional.filter(
      (operation) =>
        operation.startMs <= earliestEndMs &&
        operation.endMs >= latestStartMs &&
        !this.#isOrdered.has(operation),
    );
    return [...candidates.sort((a, b) => a.endMs - b.endMs), ...optional];
  }

  #append(operation: O): void {
    this.#ordered.push(operation);
    this.#isOrdered.add(operation);
    if (!operation.isOptional) this.#requiredCount += 1;
    while (this.#first < this.#required.length && this.#isOrdered.has(this.#required[this.#first]!)) {
      this.#first += 1;
    }
  }

  #takeBack(): void {
    const operation = this.#ordered.pop();
    if (operation === undefined) return;
    this.#isOrdered.delete(operation);
    if (operation.isOptional) return;
    this.#requiredCount -= 1;
    this.#first = Math.min(this.#first, this.#required.indexOf(operation));
  }

  /** The set of ordered operations, in a short form: mostly it is a prefix. */
  #configuration(): string {
    const ahead: number[] = [];
    let open = this.#requiredCount - this.#first;
    for (let index = this.#first; open > 0 && index < this.#required.length; index += 1) {
      if (!this.#isOrdered.has(this.#required[index]!)) continue;
      ahead.push(index);
      open -= 1;
    }
    const optional = this.#optional.flatMap((operation, index) =>
      this.#isOrdered.has(operation) ? [index] : [],
    );
    return `${this.#first}|${ahead.join()}|${optional.join()}`;
  }

  #failure(): SearchResult<O, S> {
    const { ordered, state } = this.#deepest!;
    while (this.#ordered.length > 0) this.#takeBack();
    for (const operation of ordered) this.#append(operation);
    const latestStartMs = Math.max(...ordered.map(({ startMs }) => startMs), Number.NEGATIVE_INFINITY);
    const blocked = this.#candidates(latestStartMs).flatMap((operation) => {
      const step = this.#model.step(state, operation);
      return step.ok ? [] : [{ operation, reason: step.reason }];
    });
    return { ok: false, ordered, state, blocked };
  }
}
