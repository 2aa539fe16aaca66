import type { Value } from '../values/values.ts';

/** The evaluation exceeded its cost limit; its meter has the cost so far. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Counts the cost of an evaluation and stops it at the limit. */
export class CostMeter {
  readonly #limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  charge(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.#limit) throw new CostLimitExceeded();
  }
}

/** The variables of an expression during its evaluation. */
export interface Frame {
  readonly meter: CostMeter;
  find(name: string): Value | undefined;
}

export type Evaluate = (frame: Frame) => Value;

export class RootFrame implements Frame {
  readonly meter: CostMeter;
  readonly #variables: ReadonlyMap<string, Value>;

  constructor(meter: CostMeter, variables: ReadonlyMap<string, Value>) {
    this.meter = meter;
    this.#variables = variables;
  }

  find(name: string): Value | undefined {
    return this.#variables.get(name);
  }
}

interface LoopNames {
  readonly accumulator: string;
  readonly variable: string;
  readonly variable2: string | undefined;
}

/** The frame of one comprehension. The accumulator is computed on first access, and its cost is counted then. */
export class LoopFrame implements Frame {
  readonly #outer: Frame;
  readonly #names: LoopNames;
  readonly #init: Evaluate;
  #accumulated: Value | undefined;
  #first: Value = null;
  #second: Value = null;
  #isDone = false;

  constructor(outer: Frame, names: LoopNames, init: Evaluate) {
    this.#outer = outer;
    this.#names = names;
    this.#init = init;
  }

  get meter(): CostMeter {
    return this.#outer.meter;
  }

  enter(first: Value, second: Value): void {
    this.#first = first;
    this.#second = second;
  }

  accumulate(value: Value): void {
    this.#accumulated = value;
  }

  /** The result expression cannot access the loop's variables. */
  finish(): void {
    this.#isDone = true;
  }

  find(name: string): Value | undefined {
    if (name === this.#names.accumulator) {
      if (this.#accumulated === undefined) this.#accumulated = this.#init(this.#outer);
      return this.#accumulated;
    }
    if (!this.#isDone) {
      if (name === this.#names.variable) return this.#first;
      if (name === this.#names.variable2) return this.#second;
    }
    return this.#outer.find(name);
  }
}
