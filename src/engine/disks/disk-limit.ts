import type { DiskCapacitySettings } from '../../kube/stowage/disk-settings.ts';
import type { StorageDisk, StorageDiskStatus } from '../../kube/stowage/storage-node.ts';

const percentageDefault = 100;

export type DiskLimit =
  | { readonly kind: 'known'; readonly bytes: number }
  /** The figure of the StorageNode that is missing. */
  | { readonly kind: 'unknown'; readonly missing: 'storageAvailable' | 'storageMaximum' };

/**
 * Bytes that requests for a disk can have in all. `Available`: `storageAvailable` less `storageReserved`. `OverProvision`: `storageMaximum` less
 * `storageReserved`, times the percentage. The policy of the disk comes before the one of all disks. A disk of 0 bytes does not exist: the
 * figure is unknown.
 */
export function diskLimit(
  { storageMaximum, storageAvailable }: StorageDiskStatus,
  disk: StorageDisk | undefined,
  settings: DiskCapacitySettings | undefined,
): DiskLimit {
  const reserved = disk?.storageReserved ?? 0;
  const { policy, percentage } = effectivePolicy(disk, settings);
  if (storageMaximum === 0) return { kind: 'unknown', missing: 'storageMaximum' };
  if (policy === 'Available')
    return storageAvailable === undefined
      ? { kind: 'unknown', missing: 'storageAvailable' }
      : { kind: 'known', bytes: Math.max(0, storageAvailable - reserved) };
  return storageMaximum === undefined
    ? { kind: 'unknown', missing: 'storageMaximum' }
    : { kind: 'known', bytes: percentOf(Math.max(0, storageMaximum - reserved), percentage) };
}

/** The policy of the disk comes before the one of all disks. */
export function effectivePolicy(
  disk: DiskCapacitySettings | undefined,
  settings: DiskCapacitySettings | undefined,
): { readonly policy: 'Available' | 'OverProvision'; readonly percentage: number } {
  return {
    policy: disk?.capacityPolicy ?? settings?.capacityPolicy ?? 'Available',
    percentage: disk?.overProvisioningPercentage ?? settings?.overProvisioningPercentage ?? percentageDefault,
  };
}

/** Exact: the product may be larger than a number can represent. */
function percentOf(bytes: number, percentage: number): number {
  const product = (BigInt(bytes) * BigInt(percentage)) / 100n;
  return product > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(product);
}
