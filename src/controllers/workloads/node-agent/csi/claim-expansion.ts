import { CsiCallError } from '../../../../csi/csi-errors.ts';
import { isLess, storageOf } from '../../../../engine/expansion/decide-expansion.ts';
import { awaitsNodeResize } from '../../../../engine/expansion/resize-status.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../kube/api/core.ts';
import { parseQuantity, quantityToBytes } from '../../../../kube/quantities/quantity.ts';

/** The size in bytes that the volume's file system must grow to; undefined if the claim does not wait for its node. */
export function pendingExpansion(
  claim: PersistentVolumeClaim | undefined,
  volume: PersistentVolume,
): bigint | undefined {
  const size = storageOf(volume.spec?.capacity);
  if (claim === undefined || size === undefined || !awaitsNodeResize(claim)) return undefined;
  if (!isLess(storageOf(claim.status?.capacity) ?? '0', size)) return undefined;
  const parsed = parseQuantity(size);
  return parsed.ok ? quantityToBytes(parsed.quantity) : undefined;
}

/** A kubelet gives up on these; the expander or a person has to act before it tries again. */
export function isInfeasible(error: unknown): boolean {
  return error instanceof CsiCallError && ['InvalidArgument', 'OutOfRange', 'NotFound'].includes(error.code);
}

/** The plugin cannot expand a volume that is in use; the pod runs with the old size. */
export function isInUse(error: unknown): boolean {
  return error instanceof CsiCallError && error.code === 'FailedPrecondition';
}
