import { fallbackStorageClassName } from '../../kube/stowage.ts';
import type { DriverRecord } from '../records/driver-record.ts';
import type { PoolEntry, PoolTable } from './pool-table.ts';
import type { Profile } from './profile.ts';

interface PoolSources {
  readonly profile: Profile;
  readonly pools: PoolTable;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
}

/** `untracked`: nobody keeps books, any amount fits. `none`: the driver does, and has nothing for this class. */
export type PoolLookup =
  | { readonly kind: 'untracked' }
  | { readonly kind: 'none' }
  | { readonly kind: 'pools'; readonly entry: PoolEntry };

const untracked: PoolLookup = { kind: 'untracked' };

/** Where volumes of a class (or `<ephemeral>` ones) come from: driver first, then class, then `<fallback>`. */
export function lookUpPools(sources: PoolSources, driver: string, storageClass: string): PoolLookup {
  const own = sources.pools.driverPools(driver);
  const hasOwn = own?.tracksCapacity === true;
  const hasNative = sources.drivers.get(driver)?.tracksCapacity === true;
  if (!hasOwn && !hasNative) return untracked;
  if (hasOwn && (!hasNative || sources.profile.preferredPools === 'DriverCapacity')) {
    const entry = sources.pools.driverEntry(driver, storageClass, fallbackStorageClassName);
    return entry === undefined ? { kind: 'none' } : { kind: 'pools', entry };
  }
  return { kind: 'pools', entry: sources.pools.classEntry(storageClass) };
}
