import type { Int64 } from '../../kube/api/stored/meta.ts';
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityToNano,
} from '../../kube/quantities/quantity.ts';
import type { FieldErrors } from './field-errors.ts';

const negativeMessage = 'must be greater than or equal to 0';
export const notPositiveMessage = 'must be greater than zero';
export const notIntegerMessage = 'must be an integer';

/** Quantities by resource name, as in `requests` and `capacity`. */
export type ResourceList = Readonly<Record<string, string>>;

/** Zero if the text is absent. Stored objects contain only valid quantities. */
export function quantityOf(text: string | undefined): Quantity {
  const result = parseQuantity(text ?? '0');
  return result.ok ? result.quantity : zero;
}

/** Negative, zero or positive, as a sort function returns. */
export function compareQuantityTexts(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  return compareQuantities(quantityOf(a), quantityOf(b));
}

export function checkNonNegativeQuantity(errors: FieldErrors, field: string, text: string): void {
  if (compareQuantityTexts(text, '0') < 0) errors.invalid(field, text, negativeMessage);
}

export function checkPositiveQuantity(errors: FieldErrors, field: string, text: string): void {
  if (compareQuantityTexts(text, '0') <= 0) errors.invalid(field, text, notPositiveMessage);
}

export function checkNonNegative(errors: FieldErrors, field: string, value: Int64): void {
  if (value < 0) errors.invalid(field, value, negativeMessage);
}

/** Kubernetes rounds up to thousandths before it checks for whole units. */
export function isWholeQuantity(text: string): boolean {
  const nano = quantityToNano(quantityOf(text));
  const milli = nano / 1_000_000n + (nano % 1_000_000n > 0n ? 1n : 0n);
  return milli % 1000n === 0n;
}

/** Whether both contain the same amounts of the same resources, in any notation. */
export function equalResources(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  const names = Object.keys(a ?? {});
  if (names.length !== Object.keys(b ?? {}).length) return false;
  return names.every((name) => b?.[name] !== undefined && compareQuantityTexts(a?.[name], b[name]) === 0);
}

const zero: Quantity = { amount: 0, format: 'DecimalSI', spelling: undefined };
