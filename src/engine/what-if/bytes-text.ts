import { canonicalQuantity, quantityFromBytes } from '../../kube/quantities/quantity.ts';

/** As Kubernetes writes sizes: `10Gi`. */
export function quantityOfBytes(bytes: number): string {
  return canonicalQuantity(quantityFromBytes(Math.round(bytes)));
}
