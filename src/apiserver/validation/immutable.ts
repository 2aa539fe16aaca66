import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import type { FieldErrors } from './field-errors.ts';

export const immutableMessage = 'field is immutable';

/** The error prints the new value; pass '' for an absent text. */
export function checkImmutable(errors: FieldErrors, field: string, value: unknown, old: unknown): void {
  if (!isSemanticallyEqual(value, old)) errors.invalid(field, value, immutableMessage);
}
