import type { Checked } from '../checking/checker.ts';
import type { Overload } from '../types/declarations.ts';
import type { Value } from '../values/values.ts';
import type { Attribute } from './attributes.ts';
import type { Step } from './frame.ts';

/** A node made ready to run. What is known beforehand costs nothing later. */
export interface Planned {
  readonly run: Step;
  readonly constant?: Value;
  readonly attribute?: Attribute;
}

/** The expression fits together, and still can't be run: a constant of it says nothing. */
export class UnplannableExpression extends Error {}

export interface Plan {
  readonly checked: Checked;
  /** All overloads of a function, for calls that are decided by the values. */
  overloads(name: string): readonly Overload[];
}
