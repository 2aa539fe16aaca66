import { quantityOfBytes } from '../../kube/quantities/bytes.ts';

/** Exact, and readable if the amount is round: `20Gi`, `50688Mi`, `1000000007 bytes`. */
export function exactBytesText(bytes: number): string {
  const quantity = bareBytesText(bytes);
  return /\d$/.test(quantity) ? `${quantity} bytes` : quantity;
}

/** The same without the word, for amounts after the first one. */
export function bareBytesText(bytes: number): string {
  return quantityOfBytes(BigInt(bytes));
}

/** `20Gi free, 80Gi requested: 60Gi missing`. On a disk that has more than its limit: `20Gi above the limit, 80Gi requested: 100Gi missing`. */
export function missingBytesText(
  { free, requested, missing }: Readonly<Record<'free' | 'requested' | 'missing', number>>,
  word = 'requested',
): string {
  const room = free < 0 ? `${exactBytesText(-free)} above the limit` : `${exactBytesText(free)} free`;
  return `${room}, ${bareBytesText(requested)} ${word}: ${bareBytesText(missing)} missing`;
}
