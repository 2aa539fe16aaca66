import type { DiskVolume } from '../../kube/stowage/volume.ts';

/**
 * Bytes that the disks of a volume's replicas do not release, even if less is requested. Its size is one bound. The other is an expansion: from
 * its request on until it is withdrawn, because it may be committed at any time, and for good once it is committed.
 */
export function heldBytes({ status }: Pick<DiskVolume, 'status'>): number {
  const { size = 0, expansion } = status ?? {};
  const isOpen = expansion !== undefined && expansion.state !== 'Withdrawn';
  return Math.max(size, isOpen ? expansion.size : 0);
}
