import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';

/** A readable number of bytes, rounded down; `unknown` if none has been reported. */
export function byteText(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : readableAmount(quantityOfBytes(BigInt(bytes)));
}
