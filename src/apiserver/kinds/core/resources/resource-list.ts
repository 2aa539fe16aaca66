import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantityToNano,
} from '../../../../kube/quantities/quantity.ts';
import { quantityOf } from '../../../validation/quantities.ts';

/** Amounts by resource name, as canonical texts, as objects contain them. */
export type MutableResourceList = Record<string, string>;

/** Amounts by resource name, parsed. */
export type Amounts = Map<string, Quantity>;

/** Rounds amounts up to thousandths: nothing finer is stored. */
export function roundToMilli(list: MutableResourceList | undefined): void {
  for (const [name, text] of Object.entries(list ?? {})) {
    if (isPlainInteger(text)) continue;
    const quantity = quantityOf(text);
    const nano = quantityToNano(quantity);
    if (nano % nanoPerMilli === 0n) continue;
    const unit = quantity.format === 'DecimalExponent' ? 'e-3' : 'm';
    if (list) list[name] = formatQuantity(quantityOf(`${milliOf(nano)}${unit}`));
  }
}

export function addAmounts(sums: Amounts, list: MutableResourceList | undefined): void {
  for (const [name, text] of Object.entries(list ?? {})) {
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? quantityOf(text) : addQuantities(sum, quantityOf(text)));
  }
}

export function raiseAmounts(maxima: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const max = maxima.get(name);
    if (max === undefined || compareQuantities(amount, max) > 0) maxima.set(name, amount);
  }
}

const nanoPerMilli = 1_000_000n;

/** Rounds away from zero. */
function milliOf(nano: bigint): bigint {
  const whole = nano / nanoPerMilli;
  if (nano % nanoPerMilli === 0n) return whole;
  return nano > 0n ? whole + 1n : whole - 1n;
}

/** A fast check for nearly all amounts: digits with an optional suffix that needs no rounding. */
function isPlainInteger(text: string): boolean {
  return /^\d+(?:[kMGTPE]i?|m|Ki)?$/.test(text);
}
