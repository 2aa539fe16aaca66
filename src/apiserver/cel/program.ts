import { parseGoDuration } from '../../kube/go/duration.ts';
import { type CheckedExpression, checkExpression } from './checking/checker.ts';
import { checkFormats } from './checking/format-checks.ts';
import { checkLiterals } from './checking/literal-checks.ts';
import { estimateCost } from './estimates/cost-estimate.ts';
import type { CostRange } from './estimates/cost-range.ts';
import type { SizeOfPath } from './estimates/known-sizes.ts';
import { CostLimitExceeded, CostMeter, type Evaluate, RootFrame } from './evaluation/frame.ts';
import { planExpression } from './evaluation/plan.ts';
import { UnplannableExpression } from './evaluation/planned.ts';
import { CostPanic } from './evaluation/runtime-cost.ts';
import { childrenOf, type Expr } from './language/ast.ts';
import { parseExpression } from './language/parser.ts';
import { libraryFunctions } from './library/libraries.ts';
import type { Environment } from './types/environment.ts';
import { type CelType, formatType } from './types/types.ts';
import { checkedTimestamp } from './values/arithmetic.ts';
import { compilePattern } from './values/patterns.ts';
import { parseCelTimestamp } from './values/times.ts';
import { CelError, isError, type Value } from './values/values.ts';

/** The variables and struct types of an expression, besides the libraries. */
export interface ExpressionScope {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly fieldsOf: Environment['fieldsOf'];
}

export type CompiledExpression =
  | { readonly kind: 'program'; readonly program: ExpressionProgram }
  /** The text is not a valid expression, or its types do not match. */
  | { readonly kind: 'issues'; readonly issues: string };

/** Parses and checks an expression. */
export function compileExpression(text: string, scope: ExpressionScope): CompiledExpression {
  const parsed = parseExpression(text);
  const environment: Environment = { ...scope, functions: libraryFunctions };
  const checked = checkExpression(parsed, environment);
  if (checked !== undefined) {
    checkLiterals(parsed, checked, isValidConstant);
    checkFormats(parsed, checked);
  }
  if (checked === undefined || parsed.issues.count > 0) {
    return { kind: 'issues', issues: parsed.issues.toString() };
  }
  return { kind: 'program', program: new ExpressionProgram(checked) };
}

/** The result of an evaluation, and its cost. */
export type EvaluationOutcome =
  | { readonly kind: 'value'; readonly value: Value; readonly cost: number }
  | { readonly kind: 'error'; readonly message: string; readonly cost: number };

/** A checked expression. */
export class ExpressionProgram {
  readonly #checked: CheckedExpression;

  constructor(checked: CheckedExpression) {
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

  estimate(sizeOfPath: SizeOfPath): CostRange {
    return estimateCost(this.#checked, sizeOfPath);
  }

  /** Returns the error message if a checked expression cannot run. */
  prepare(): RunnableExpression | string {
    try {
      const { run } = planExpression(
        { checked: this.#checked, overloads: (name) => libraryFunctions.get(name) ?? [] },
        this.#checked.expr,
      );
      return new RunnableExpression(run);
    } catch (error) {
      if (error instanceof UnplannableExpression) return error.message;
      throw error;
    }
  }
}

export class RunnableExpression {
  readonly #run: Evaluate;

  constructor(run: Evaluate) {
    this.#run = run;
  }

  evaluate(variables: ReadonlyMap<string, Value>, costLimit: number): EvaluationOutcome {
    const meter = new CostMeter(costLimit);
    try {
      const value = this.#run(new RootFrame(meter, variables));
      if (isError(value)) return { kind: 'error', message: value.message, cost: meter.spent };
      return { kind: 'value', value, cost: meter.spent };
    } catch (error) {
      // A text or list that is too large for this process is too large for a rule.
      const isLimit =
        error instanceof CostLimitExceeded || error instanceof RangeError || error instanceof CostPanic;
      if (isLimit) return { kind: 'error', message: error.message, cost: meter.spent };
      throw error;
    }
  }
}

function isValidConstant(name: 'duration' | 'timestamp' | 'matches', value: unknown): boolean {
  if (name === 'timestamp' && typeof value === 'bigint')
    return !isError(checkedTimestamp(value * 1_000_000_000n));
  if (typeof value !== 'string') return true;
  if (name === 'matches') return !(compilePattern(value) instanceof CelError);
  if (name === 'duration') return parseGoDuration(value) !== undefined;
  const parsed = parseCelTimestamp(value);
  return parsed !== undefined && !isError(parsed);
}
