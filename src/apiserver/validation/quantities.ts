import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityToNano,
} from '../../kube/quantities/quantity.ts';
import type { FieldErrors } from './field-errors.ts';

const negativeSentence = 'must be greater than or equal to 0';
export const notPositiveSentence = 'must be greater than zero';
export const notIntegerSentence = 'must be an integer';

/** Quantities by resource, as in `requests` and `capacity`. */
export type ResourceList = Readonly<Record<string, string>>;

/** Zero where the text is absent: stored objects hold no text that is not a quantity. */
export function quantityOf(text: string | undefined): Quantity {
  const result = parseQuantity(text ?? '0');
  return result.ok ? result.quantity : zero;
}

/** Below zero, zero or above, as a sort function tells. */
export function compareQuantityTexts(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  return compareQuantities(quantityOf(a), quantityOf(b));
}

export function checkNonNegativeQuantity(errors: FieldErrors, field: string, text: string): void {
  if (compareQuantityTexts(text, '0') < 0) errors.invalid(field, text, negativeSentence);
}

export function checkPositiveQuantity(errors: FieldErrors, field: string, text: string): void {
  if (compareQuantityTexts(text, '0') <= 0) errors.invalid(field, text, notPositiveSentence);
}

export function checkNonNegative(errors: FieldErrors, field: string, value: number): void {
  if (value < 0) errors.invalid(field, value, negativeSentence);
}

/** Kubernetes asks whether the thousandths, rounded up, make whole units. */
export function isWholeQuantity(text: string): boolean {
  const nano = quantityToNano(quantityOf(text));
  const milli = nano / 1_000_000n + (nano % 1_000_000n > 0n ? 1n : 0n);
  return milli % 1000n === 0n;
}

/** The same amounts of the same resources, however they are written. */
export function equalResources(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  const names = Object.keys(a ?? {});
  if (names.length !== Object.keys(b ?? {}).length) return false;
  return names.every((name) => b?.[name] !== undefined && compareQuantityTexts(a?.[name], b[name]) === 0);
}

const zero: Quantity = { amount: 0, format: 'DecimalSI', spelling: undefined };
