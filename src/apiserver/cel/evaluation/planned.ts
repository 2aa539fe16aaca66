import type { CheckedExpression } from '../checking/checker.ts';
import type { Overload } from '../types/declarations.ts';
import type { Value } from '../values/values.ts';
import type { Attribute } from './attributes.ts';
import type { Evaluate } from './frame.ts';

/** A node that is ready to run. Constants are folded and cost nothing at run time. */
export interface PlannedNode {
  readonly run: Evaluate;
  readonly constant?: Value;
  readonly attribute?: Attribute;
}

/** A checked expression that cannot run: one of its constants is not valid. */
export class UnplannableExpression extends Error {}

export interface PlanContext {
  readonly checked: CheckedExpression;
  /** All overloads of a function, for calls that are dispatched by values. */
  overloads(name: string): readonly Overload[];
}
