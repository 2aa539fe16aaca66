import type { CheckedExpression } from '../checking/checker.ts';
import type { Overload } from '../types/declarations.ts';
import type { Value } from '../values/values.ts';
import type { Attribute } from './attributes.ts';
import type { Evaluate } from './frame.ts';

/** A node made ready to run. What is known beforehand costs nothing later. */
export interface PlannedNode {
  readonly run: Evaluate;
  readonly constant?: Value;
  readonly attribute?: Attribute;
}

/** The expression fits together, and still can't be run: a constant of it says nothing. */
export class UnplannableExpression extends Error {}

export interface PlanContext {
  readonly checked: CheckedExpression;
  /** All overloads of a function, for calls that are decided by the values. */
  overloads(name: string): readonly Overload[];
}
