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
