/**
 * Reading objects that nobody has validated: a list may be a number, a label value an object. Whatever the shape, these
 * answer with something of the right type, so that no parser throws on cluster data.
 */
import { parseQuantity } from '../../kube/quantities/quantity.ts';
import { listOf } from '../../kube/wire.ts';
import { type Size, sizeOfNano } from '../size.ts';

/** The items of a list that are there at all; none where there is no list. */
export function nonNullItems<T>(value: readonly T[] | null | undefined): readonly NonNullable<T>[] {
  const items = listOf(value);
  return items.every((item) => item !== null && item !== undefined)
    ? (items as readonly NonNullable<T>[])
    : items.filter((item) => item !== null && item !== undefined);
}

const noLabels: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** A copy of what is text: the caller may go on to change its object. Spreading keeps a key called `__proto__` a key. */
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
  | { readonly kind: 'bad'; readonly problem: string };

/** A size that may be left out but, where it is given, must be a quantity of zero or more. */
export function readSize(value: unknown, field: string): SizeReading {
  if (value === undefined || value === null) return { kind: 'absent' };
  const parsed = parseQuantity(value, field);
  if (!parsed.ok) return { kind: 'bad', problem: parsed.problem };
  const { amount } = parsed.quantity;
  // A quantity is a plain number exactly where a size is.
  const size = typeof amount === 'number' ? { bytes: amount, exactNano: undefined } : sizeOfNano(amount);
  if (size.bytes < 0)
    return { kind: 'bad', problem: `${field}: "${String(value)}" is negative; a size is zero or more` };
  return { kind: 'size', size };
}
