import { canonicalQuantity, parseQuantity, quantityFromBytes, quantityToBytes } from './quantity.ts';

/** The bytes of a quantity, fractions rounded up; 0 for anything that is not a quantity. Use `parseQuantity` where the difference matters. */
export function bytesOf(quantity: unknown): bigint {
  const parsed = parseQuantity(quantity);
  return parsed.ok ? quantityToBytes(parsed.quantity) : 0n;
}

/** An exact quantity with a binary suffix, as Kubernetes writes it: `10Gi`. Whole bytes, which may be negative. */
export function quantityOfBytes(bytes: bigint | number): string {
  return canonicalQuantity(quantityFromBytes(bytes, 'BinarySI'));
}
