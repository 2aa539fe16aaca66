import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import type { FieldErrors } from './field-errors.ts';

export const immutableMessage = 'field is immutable';

/** A field that stays as it was. The error shows the new value; pass '' for a text that is absent. */
export function checkImmutable(errors: FieldErrors, field: string, value: unknown, old: unknown): void {
  if (!isSemanticallyEqual(value, old)) errors.invalid(field, value, immutableMessage);
}
