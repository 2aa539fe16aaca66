import { parseGoDuration } from '../../kube/go/duration.ts';
import { type Checked, check } from './checking/checker.ts';
import { checkFormats } from './checking/format-checks.ts';
import { checkLiterals } from './checking/literal-checks.ts';
import { estimateCost } from './estimates/cost-estimate.ts';
import type { Range } from './estimates/estimates.ts';
import type { SizeOfPath } from './estimates/sizes.ts';
import { CostLimitExceeded, CostMeter, RootFrame, type Step } from './evaluation/frame.ts';
import { planExpression } from './evaluation/plan.ts';
import { UnplannableExpression } from './evaluation/planned.ts';
import { BrokenCost } from './evaluation/runtime-cost.ts';
import { childrenOf, type Expr } from './language/ast.ts';
import { parse } from './language/parser.ts';
import { functions } from './library/libraries.ts';
import type { Environment } from './types/environment.ts';
import { formatType, type Type } from './types/types.ts';
import { moment } from './values/arithmetic.ts';
import { compilePattern } from './values/patterns.ts';
import { parseCelTimestamp } from './values/time-text.ts';
import { CelError, isError, type Value } from './values/values.ts';

/** What an expression may refer to, beside the libraries. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Type>;
  readonly fieldsOf: Environment['fieldsOf'];
}

export type Compiled =
  | { readonly kind: 'program'; readonly program: Program }
  /** The text is no expression, or does not fit together. */
  | { readonly kind: 'issues'; readonly issues: string };

/** Reads and checks an expression. */
export function compileExpression(text: string, scope: Scope): Compiled {
  const parsed = parse(text);
  const environment: Environment = { ...scope, functions };
  const checked = check(parsed, environment);
  if (checked !== undefined) {
    checkLiterals(parsed, checked, isValidConstant);
    checkFormats(parsed, checked);
  }
  if (checked === undefined || parsed.issues.count > 0) {
    return { kind: 'issues', issues: parsed.issues.toString() };
  }
  return { kind: 'program', program: new Program(checked) };
}

/** How an evaluation went, and what it has cost until it ended. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: Value; readonly cost: number }
  | { readonly kind: 'error'; readonly message: string; readonly cost: number };

/** An expression that fits together. */
export class Program {
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  get resultType(): string {
    return formatType(this.#checked.resultType);
  }

  refersTo(name: string): boolean {
    const refers = (expr: Expr): boolean =>
      this.#checked.nameOf(expr) === name || childrenOf(expr).some(refers);
    return refers(this.#checked.expr);
  }

  estimate(sizeOfPath: SizeOfPath): Range {
    return estimateCost(this.#checked, sizeOfPath);
  }

  /** The message says why the expression can't be run though it fits together. */
  prepare(): Runnable | string {
    try {
      const { run } = planExpression(
        { checked: this.#checked, overloads: (name) => functions.get(name) ?? [] },
        this.#checked.expr,
      );
      return new Runnable(run);
    } catch (error) {
      if (error instanceof UnplannableExpression) return error.message;
      throw error;
    }
  }
}

export class Runnable {
  readonly #run: Step;

  constructor(run: Step) {
    this.#run = run;
  }

  evaluate(variables: ReadonlyMap<string, Value>, costLimit: number): Outcome {
    const meter = new CostMeter(costLimit);
    try {
      const value = this.#run(new RootFrame(meter, variables));
      if (isError(value)) return { kind: 'error', message: value.message, cost: meter.spent };
      return { kind: 'value', value, cost: meter.spent };
    } catch (error) {
      // A text or a list that is too large for this process is too large for a rule.
      const isEnd =
        error instanceof CostLimitExceeded || error instanceof RangeError || error instanceof BrokenCost;
      if (isEnd) return { kind: 'error', message: error.message, cost: meter.spent };
      throw error;
    }
  }
}

function isValidConstant(name: 'duration' | 'timestamp' | 'matches', value: unknown): boolean {
  if (name === 'timestamp' && typeof value === 'bigint') return !isError(moment(value * 1_000_000_000n));
  if (typeof value !== 'string') return true;
  if (name === 'matches') return !(compilePattern(value) instanceof CelError);
  if (name === 'duration') return parseGoDuration(value) !== undefined;
  const parsed = parseCelTimestamp(value);
  return parsed !== undefined && !isError(parsed);
}
