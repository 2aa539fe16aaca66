import type { CheckedExpression } from '../checking/checker.ts';
import {
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  operators,
} from '../language/ast.ts';
import { estimateCall } from './call-estimates.ts';
import {
  type CostRange,
  exactRange,
  plus,
  rangeUnion,
  sum,
  times,
  uint64Max,
  zeroRange,
} from './cost-range.ts';
import type { CallEstimate, EstimatedCall } from './estimated-call.ts';
import { KnownSizes, type SizeOfPath, unionOfEntries } from './known-sizes.ts';

/** The minimum and maximum cost of an expression, by its text and by the schema of the values that it accesses. */
export function estimateCost(checked: CheckedExpression, sizeOfPath: SizeOfPath): CostRange {
  return new Estimator(checked, sizeOfPath).cost(checked.expr);
}

const identCost = exactRange(1);
const listCost = exactRange(10);
const mapCost = exactRange(30);
const structCost = exactRange(40);
/** The neutral element of unions. */
const noRange: CostRange = { min: uint64Max, max: 0n };

class Estimator {
  readonly #checked: CheckedExpression;
  readonly #sizes: KnownSizes;

  constructor(checked: CheckedExpression, sizeOfPath: SizeOfPath) {
    this.#checked = checked;
    this.#sizes = new KnownSizes(checked, sizeOfPath);
  }

  cost(expr: Expr): CostRange {
    switch (expr.kind) {
      case 'literal':
        return zeroRange;
      case 'ident':
        return this.#ident(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return plus(sum(expr.fields.map((field) => this.cost(field.value))), structCost);
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#loop(expr);
    }
  }

  #ident(expr: Expr, name: string): CostRange {
    this.#sizes.setIdentPath(expr, name);
    return identCost;
  }

  #select(expr: Expr & { readonly kind: 'select' }): CostRange {
    const name = this.#checked.nameOf(expr);
    if (name !== undefined) return this.#ident(expr, name);
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.#sizes.setPath(expr, [...this.#sizes.pathOf(expr.operand), expr.field]);
    const { kind } = this.#checked.typeOf(expr.operand);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? plus(operand, identCost) : operand;
  }

  #call(call: Call): CostRange {
    const [first] = call.args;
    if (call.function === 'dyn' && first !== undefined) {
      const cost = plus(exactRange(1), this.cost(first));
      this.#sizes.copy(call, first);
      return cost;
    }
    const argCosts = call.args.map((arg) => this.cost(arg));
    const args = call.args.map((arg) => this.#sizes.node(arg));
    const overloads = this.#checked.overloadsOf(call);
    if (overloads.length === 0) return zeroRange;
    const targetCost = call.target === undefined ? zeroRange : this.cost(call.target);
    const target = call.target === undefined ? undefined : this.#sizes.node(call.target);
    let cost = noRange;
    let size: CostRange | undefined;
    for (const { id } of overloads) {
      const estimate = this.#overload(
        call,
        { function: call.function, overload: id, target, args, sizes: this.#sizes },
        argCosts,
      );
      cost = rangeUnion(cost, estimate.cost);
      if (estimate.resultSize !== undefined) {
        size = size === undefined ? estimate.resultSize : rangeUnion(size, estimate.resultSize);
      }
      size = this.#indexed(call, id, size) ?? size ?? this.#sizes.sizeOf(call);
    }
    this.#sizes.setSize(call, size);
    return plus(targetCost, cost);
  }

  /** The size of an indexed element is known if the sizes of the container's entries are. */
  #indexed(call: Call, overload: string, size: CostRange | undefined): CostRange | undefined {
    const [container] = call.args;
    const step = overload === 'index_list' ? '@items' : overload === 'index_map' ? '@values' : undefined;
    if (container === undefined || step === undefined) return size;
    this.#sizes.setPath(call, [...this.#sizes.pathOf(container), step]);
    return this.#sizes.entriesOf(container)?.value ?? this.#sizes.sizeOf(call);
  }

  #overload(call: Call, estimated: EstimatedCall, argCosts: readonly CostRange[]): CallEstimate {
    if (['add_string', 'add_bytes', 'add_list'].includes(estimated.overload)) this.#joinEntries(call);
    const estimate = estimateCall(estimated);
    if (estimate !== undefined) return { ...estimate, cost: plus(estimate.cost, sum(argCosts)) };
    const [first = zeroRange, second = zeroRange, third = zeroRange] = argCosts;
    const [, b, c] = call.args;
    switch (call.function) {
      case operators.and:
      case operators.or:
        return { cost: { min: first.min, max: plus(first, second).max } };
      case operators.conditional: {
        if (b === undefined || c === undefined) break;
        this.#sizes.setEntries(call, unionOfEntries(this.#sizes.entriesOf(b), this.#sizes.entriesOf(c)));
        const resultSize = rangeUnion(this.#sizes.sizeOrUnknown(b), this.#sizes.sizeOrUnknown(c));
        return { cost: plus(first, rangeUnion(second, third)), resultSize };
      }
    }
    return { cost: plus(exactRange(1), sum(argCosts)) };
  }

  #joinEntries(call: Call): void {
    const [left, right] = call.args;
    if (left === undefined || right === undefined) return;
    this.#sizes.setEntries(call, unionOfEntries(this.#sizes.entriesOf(left), this.#sizes.entriesOf(right)));
  }

  #list(expr: ListExpr): CostRange {
    const costs: CostRange[] = [];
    let value = expr.elements.length === 0 ? { ...noRange, min: 0n } : noRange;
    for (const element of expr.elements) {
      costs.push(this.cost(element));
      value = rangeUnion(value, this.#sizes.sizeOrUnknown(element));
    }
    this.#sizes.setEntries(expr, { container: 'list', key: exactRange(1), value });
    return plus(sum(costs), listCost);
  }

  #map(expr: MapExpr): CostRange {
    const costs: CostRange[] = [];
    let key = expr.entries.length === 0 ? { ...noRange, min: 0n } : noRange;
    let value = key;
    for (const entry of expr.entries) {
      costs.push(this.cost(entry.key), this.cost(entry.value));
      key = rangeUnion(key, this.#sizes.sizeOrUnknown(entry.key));
      value = rangeUnion(value, this.#sizes.sizeOrUnknown(entry.value));
    }
    this.#sizes.setEntries(expr, { container: 'map', key, value });
    return plus(sum(costs), mapCost);
  }

  #binding(expr: Comprehension): CostRange {
    const costs = [this.cost(expr.range), this.cost(expr.init)];
    this.#sizes.bind(expr.accumulator, expr.init);
    costs.push(this.cost(expr.result));
    this.#sizes.unbind(expr.accumulator);
    this.#sizes.copy(expr, expr.result);
    return sum(costs);
  }

  #loop(expr: Comprehension): CostRange {
    const before = plus(this.cost(expr.range), this.cost(expr.init));
    this.#sizes.bind(expr.accumulator, expr.init);
    const hasTwo = expr.variable2 !== undefined;
    this.#sizes.bindLoop(expr.variable, expr.range, hasTwo ? 'key' : 'single');
    if (expr.variable2 !== undefined) this.#sizes.bindLoop(expr.variable2, expr.range, 'value');
    const iteration = plus(this.cost(expr.condition), this.cost(expr.step));
    this.#sizes.unbind(expr.variable);
    if (expr.variable2 !== undefined) this.#sizes.unbind(expr.variable2);
    const result = this.cost(expr.result);
    this.#sizes.unbind(expr.accumulator);
    const iterations = this.#sizes.sizeOrUnknown(expr.range);
    this.#setLoopSize(expr, iterations);
    return plus(plus(before, result), times(iterations, iteration));
  }

  #setLoopSize(expr: Comprehension, iterations: CostRange): void {
    if (expr.init.kind === 'literal') this.#sizes.setSize(expr, this.#sizes.sizeOf(expr.init));
    if (expr.init.kind !== 'list' && expr.init.kind !== 'map') return;
    this.#sizes.setSize(expr, iterations);
    this.#sizes.setEntries(expr, this.#sizes.entriesOf(expr.step));
  }
}

/** Whether it is a loop over an empty list, which binds a value to a name. */
function isBinding({ range, condition, accumulator }: Comprehension): boolean {
  const isEmpty = range.kind === 'list' && range.elements.length === 0;
  return isEmpty && condition.kind === 'literal' && condition.value === false && accumulator !== '__result__';
}
