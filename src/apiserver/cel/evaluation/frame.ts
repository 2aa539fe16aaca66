import type { Value } from '../values/values.ts';

/** An expression has cost more than it may; how much it was until then is with its meter. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Counts what an evaluation costs and stops it where it is too much. */
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

/** The names that an expression sees while it is evaluated. */
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

/** One comprehension on its way. The accumulator is made when it is first looked at, and its cost counts from then on. */
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

  /** The result does not see the loop's variables. */
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
