import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';

/** Bytes for people, rounded down; `unknown` if no figure has been reported. */
export function byteText(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : readableAmount(quantityOfBytes(BigInt(bytes)));
}
