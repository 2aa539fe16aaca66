/**
 * Functions for fields of objects that are not validated: a list may be a number, a label value an object. For any value they return
 * a result of the right type, so that no reader throws on cluster data.
 */
import { parseQuantity, type Quantity } from '../../kube/quantities/quantity.ts';
import { listOf } from '../../kube/wire.ts';
import { type Size, sizeOfNano } from '../size.ts';

/** The items of a list that are neither null nor undefined; empty if the value is not a list. */
export function nonNullItems<T>(value: readonly T[] | null | undefined): readonly NonNullable<T>[] {
  const items = listOf(value);
  return items.every((item) => item !== null && item !== undefined)
    ? (items as readonly NonNullable<T>[])
    : items.filter((item) => item !== null && item !== undefined);
}

const noLabels: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** A copy with the entries that are strings, because the caller may change its object later. Spreading treats `__proto__` as a plain key. */
export function stringMapOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return noLabels;
  const items = Object.values(value);
  if (items.length === 0) return noLabels;
  if (items.every((item) => typeof item === 'string')) return { ...(value as Record<string, string>) };
  return Object.fromEntries(Object.entries(value).filter(([, item]) => typeof item === 'string'));
}

export type SizeReading =
  | { readonly kind: 'size'; readonly size: Size }
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads an optional size, which must be a quantity of zero or more. */
export function readSize(value: unknown, field: string): SizeReading {
  if (value === undefined || value === null) return { kind: 'absent' };
  const parsed = parseQuantity(value, field);
  if (!parsed.ok) return { kind: 'invalid', problem: parsed.problem };
  const size = sizeOfQuantity(parsed.quantity);
  if (size.bytes < 0)
    return { kind: 'invalid', problem: `${field}: "${String(value)}" is negative; must be zero or more` };
  return { kind: 'size', size };
}

/** Quantities and sizes use plain numbers under the same condition. */
export function sizeOfQuantity({ amount }: Quantity): Size {
  return typeof amount === 'number' ? { bytes: amount, exactNano: undefined } : sizeOfNano(amount);
}
