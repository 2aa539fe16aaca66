import type { PoolRecord } from '../../records/pool-record.ts';

declare const brand: unique symbol;
export type PoolRow = number & { readonly [brand]: 'PoolRow' };

/** The pools that serve one class, or one of the placeholders `<ephemeral>` and `<fallback>`. */
export class PoolEntry {
  readonly key: string;
  readonly rows: PoolRow[] = [];
  /** Whether a volume goes into the pool with the most free bytes, as a driver of drives chooses. Otherwise the first by name will do. */
  readonly isOfDrives: boolean;
  /** Changes whenever a pool is added, removed or moved. Never reused, not even by a later entry with the same key. */
  version: number;

  constructor(key: string, version: number, driveRows?: readonly PoolRow[]) {
    this.key = key;
    this.version = version;
    this.isOfDrives = driveRows !== undefined;
    if (driveRows !== undefined) this.rows.push(...driveRows);
  }
}

/** The key of the entry that a pool belongs to. */
export function entryKeyOf(record: PoolRecord): string {
  if (record.drive !== undefined) return `drives of kind ${record.drive.kindKey}`;
  if (record.driver === undefined) return classEntryKey(record.storageClass);
  return record.isTracked
    ? driverEntryKey(record.driver, record.storageClass)
    : `untracked ${record.driver} ${record.storageClass}`;
}

export function classEntryKey(className: string): string {
  return `class ${className}`;
}

export function driverEntryKey(driver: string, storageClass: string): string {
  return `driver ${driver} ${storageClass}`;
}
