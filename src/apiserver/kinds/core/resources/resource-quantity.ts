import type { FieldErrors } from '../../../validation/field-errors.ts';
import {
  checkNonNegativeQuantity,
  isWholeQuantity,
  notIntegerMessage,
} from '../../../validation/quantities.ts';
import { isIntegerResource } from './resource-names.ts';

/** An amount must not be negative, and must be a whole number for counted resources. */
export function checkResourceQuantity(
  errors: FieldErrors,
  field: string,
  name: string,
  amount: string,
): void {
  checkNonNegativeQuantity(errors, field, amount);
  if (isIntegerResource(name) && !isWholeQuantity(amount)) errors.invalid(field, amount, notIntegerMessage);
}
