import { drivesDriver } from '../../../kube/stowage/drive.ts';
import { ephemeralStorageClassName } from '../../../kube/stowage/driver-capacity.ts';
import { disksDriver } from '../../../kube/stowage/volume.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { InlineVolume } from '../../records/pod-record.ts';
import type { PoolForm } from '../../records/pool-record.ts';
import type { Profile } from '../profile.ts';
import type { PoolEntry } from './pool-entry.ts';
import type { PoolTable } from './pool-table.ts';

interface PoolSources {
  readonly profile: Profile;
  readonly pools: PoolTable;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
  readonly classes: ReadonlyMap<string, ClassRecord>;
}

/** `untracked`: the driver publishes no capacity, so any size fits. `none`: the driver publishes capacity, but none for this class. */
export type PoolLookup =
  | { readonly kind: 'untracked' }
  | { readonly kind: 'none' }
  | { readonly kind: 'pools'; readonly entry: PoolEntry };

const untracked: PoolLookup = { kind: 'untracked' };

/**
 * The pools for volumes of a class: by driver first, then by class, then `<fallback>`. A class of disks with invalid parameters has none: its
 * provisioner says what is wrong with them.
 */
export function lookUpPools(sources: PoolSources, driver: string, storageClass: string): PoolLookup {
  if (driver === disksDriver && sources.classes.get(storageClass)?.hasInvalidDiskClass === true)
    return untracked;
  switch (trackedForm(sources, driver)) {
    case undefined:
      return areDrivesAwaited(sources, driver) ? drivesFor(sources, storageClass) : untracked;
    case 'CSIStorageCapacity':
      return found(sources.pools.classEntry(storageClass));
    case 'DriverCapacity':
      return found(sources.pools.driverEntry(driver, storageClass));
    case 'Drive':
      return drivesFor(sources, storageClass);
  }
}

/** The drives that the class accepts. With invalid parameters no drive is looked for: the pod is refused before. */
function drivesFor({ pools, classes }: PoolSources, storageClass: string): PoolLookup {
  const driveClass = classes.get(storageClass)?.driveClass;
  return driveClass === undefined ? untracked : found(pools.driveEntry(driveClass));
}

/**
 * The pools for inline volumes. They have no class, so that only a DriverCapacity can publish capacity for them: other forms are not asked,
 * whichever of them the driver publishes too. Volumes of `drives.stowage.dev` are on drives, as those of claims are; with invalid attributes
 * no drive is looked for.
 */
export function lookUpInlinePools(
  { profile, pools }: Pick<PoolSources, 'profile' | 'pools'>,
  { driver, drive }: Pick<InlineVolume, 'driver' | 'drive'>,
): PoolLookup {
  const hasDrives = driver === drivesDriver && profile.poolForms.includes('Drive') && pools.hasDrives;
  const isTracked = profile.poolForms.includes('DriverCapacity') && pools.isDriverTracked(driver);
  if (isTracked && !hasDrives) return found(pools.driverEntry(driver, ephemeralStorageClassName));
  const isOnDrives = hasDrives || areDrivesAwaited({ profile, pools }, driver);
  return isOnDrives && drive !== undefined ? found(pools.driveEntry(drive)) : untracked;
}

/** Volumes of `drives.stowage.dev` are only on drives, so that nothing fits before the first one is added. */
export function areDrivesAwaited(
  { profile, pools }: Pick<PoolSources, 'profile' | 'pools'>,
  driver: string,
): boolean {
  return driver === drivesDriver && profile.poolForms.includes('Drive') && !pools.hasDrives;
}

function found(entry: PoolEntry | undefined): PoolLookup {
  return entry === undefined ? { kind: 'none' } : { kind: 'pools', entry };
}

/** A CSIStorageCapacity cannot hold pools for inline volumes. So a driver may publish these as DriverCapacity, and its classes the other way. */
function trackedForm({ profile, pools, drivers }: PoolSources, driver: string): PoolForm | undefined {
  const hasObjects =
    profile.poolForms.includes('CSIStorageCapacity') && drivers.get(driver)?.tracksCapacity === true;
  return profile.poolForms.find((form) => {
    if (form === 'CSIStorageCapacity') return hasObjects;
    if (form === 'Drive') return driver === drivesDriver && pools.hasDrives;
    return pools.isDriverTracked(driver) && (!hasObjects || pools.coversClasses(driver));
  });
}
