import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantityToNano,
} from '../../../../kube/quantities/quantity.ts';
import { quantityOf } from '../../../validation/quantities.ts';

/** Amounts of resources by their names, as objects hold them: canonical texts. */
export type MutableResourceList = Record<string, string>;

/** Amounts by name, as numbers to reckon with. */
export type Amounts = Map<string, Quantity>;

/** Nothing finer than a thousandth is stored; what is finer is rounded up. */
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

/** Rounded away from zero. */
function milliOf(nano: bigint): bigint {
  const whole = nano / nanoPerMilli;
  if (nano % nanoPerMilli === 0n) return whole;
  return nano > 0n ? whole + 1n : whole - 1n;
}

/** Nearly all amounts: digits, perhaps with a suffix that makes them larger. */
function isPlainInteger(text: string): boolean {
  return /^\d+(?:[kMGTPE]i?|m|Ki)?$/.test(text);
}
