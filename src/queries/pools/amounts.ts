import { nanoOf, type Size } from '../../engine/size.ts';
import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';

/** An exact quantity, as Kubernetes writes it. */
export function quantityText(size: Size): string {
  return quantityOfBytes(nanoOf(size) / 1_000_000_000n);
}

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const significantDigits = 3;

/** Rounded for users: `79.9Gi` where the quantity is 85,791,971,123 bytes. It rounds down, so that it never promises more than there is. */
export function readableAmount(quantity: string): string {
  let amount = Number(bytesOf(quantity));
  const sign = amount < 0 ? '-' : '';
  amount = Math.abs(amount);
  let unit = 0;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const decimals = Math.max(0, significantDigits - String(Math.trunc(amount)).length);
  const scale = 10 ** decimals;
  return `${sign}${Math.trunc(amount * scale) / scale}${units[unit]}`;
}
