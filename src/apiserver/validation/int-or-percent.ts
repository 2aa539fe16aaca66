import type { FieldErrors } from './field-errors.ts';
import { percentProblems } from './names.ts';
import { checkNonNegative } from './quantities.ts';

/** `3` or `25%`. */
export type IntOrPercent = number | string;

export function checkIntOrPercent(errors: FieldErrors, field: string, value: IntOrPercent): void {
  if (typeof value === 'number') checkNonNegative(errors, field, value);
  else errors.invalidFor(field, value, percentProblems(value));
}

/** For percentages; numbers have no upper bound. */
export function checkAtMost100Percent(errors: FieldErrors, field: string, value: IntOrPercent): void {
  const percent = percentOf(value);
  if (percent !== undefined && percent > 100) errors.invalid(field, value, 'must not be greater than 100%');
}

/** The number or the percentage, to test whether it is zero. Any other text counts as zero. */
export function numericValue(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  return percentOf(value) ?? (/^[+-]?[0-9]+$/.test(value) ? Number(value) : 0);
}

function percentOf(value: IntOrPercent): number | undefined {
  if (typeof value === 'number' || percentProblems(value).length > 0) return undefined;
  return Number(value.slice(0, -1));
}
