import type { DriverPoolsRecord, PoolRecord } from '../../records/pool-record.ts';
import { addSizes, compareSizes, type Size, scaleSize, subtractSizes, zeroSize } from '../../size.ts';
import type { NodePartition } from '../nodes/node-partition.ts';
import { PartitionCache } from '../nodes/partition-cache.ts';
import type { Topology, TopologyTable } from '../nodes/topology-table.ts';
import { lowerBound } from '../primitives/binary-search.ts';
import { addTo, removeFrom } from '../primitives/maps.ts';

declare const brand: unique symbol;
export type PoolRow = number & { readonly [brand]: 'PoolRow' };

/** The pools that serve one class, or what stands in for a class. */
export class PoolEntry {
  readonly key: string;
  readonly rows: PoolRow[] = [];
  /** Another one whenever a pool comes, goes or moves; never used again, not even by a later entry of the same key. */
  version: number;

  constructor(key: string, version: number) {
    this.key = key;
    this.version = version;
  }
}

/**
 * Capacity pools of both forms, with what has been promised of them.
 *
 * A promise is bytes of one pool that a claim in flight will take; it is known by the claim's key and outlives the
 * pool's record. Pools with the same backing share their disks: each one's room is what it publishes, less the
 * promises of all of them, converted into its own bytes by the ratio of the published sizes.
 */
export class PoolTable {
  readonly #topologies: TopologyTable;
  readonly #rows = new Map<string, PoolRow>();
  readonly #freeRows: PoolRow[] = [];
  readonly #records: (PoolRecord | undefined)[] = [];
  readonly #rooms: Size[] = [];
  /**
   * What plans compare, by row: the largest single volume (-1 for none), the room after promises, and when the figures
   * expire. A tie between sizes that doubles don't hold exactly is decided by the sizes themselves.
   */
  limitBytes = new Float64Array(64);
  availableBytes = new Float64Array(64);
  expiresAtMs = new Float64Array(64);
  readonly #topologyOf: (Topology | undefined)[] = [];
  readonly #entries = new Map<string, PoolEntry>();
  readonly #byBacking = new Map<string, Set<PoolRow>>();
  readonly #driverPools = new Map<string, DriverPoolsRecord>();
  readonly #promises = new Map<string, Map<string, Size>>();
  readonly #promisedSums = new Map<string, Size>();
  readonly #cells: PartitionCache;
  /** Rises when a pool comes, goes or moves: whatever was placed by reach is placed anew. */
  structureVersion = 0;

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
    this.#cells = new PartitionCache(topologies);
  }

  get(key: string): PoolRecord | undefined {
    const row = this.#rows.get(key);
    return row === undefined ? undefined : this.#records[row];
  }

  row(key: string): PoolRow | undefined {
    return this.#rows.get(key);
  }

  record(row: number): PoolRecord {
    return this.#records[row]!;
  }

  driverPools(driver: string): DriverPoolsRecord | undefined {
    return this.#driverPools.get(driver);
  }

  *records(): Iterable<PoolRecord> {
    for (const record of this.#records) if (record !== undefined) yield record;
  }

  topology(row: number): Topology {
    return this.#topologyOf[row]!;
  }

  /** The pools on the same disks, itself among them; none if it is not there. */
  poolsOnSameBacking(key: string): PoolRecord[] {
    const record = this.get(key);
    if (record === undefined) return [];
    return [...(this.#byBacking.get(record.backing) ?? [])].map((row) => this.#records[row]!);
  }

  // ── Records ──

  put(record: PoolRecord): void {
    const known = this.#rows.get(record.key);
    if (
      known !== undefined &&
      this.#records[known]!.nodes.key === record.nodes.key &&
      sameEntry(this.#records[known]!, record)
    ) {
      this.#replace(known, record);
      return;
    }
    this.delete(record.key);
    const row = this.#freeRows.pop() ?? (this.#records.length as PoolRow);
    this.#rows.set(record.key, row);
    this.#setRecord(row, record);
    this.#topologyOf[row] = this.#topologies.acquire(record.nodes);
    this.#enter(row, record);
    this.#joinBacking(row, record);
  }

  delete(key: string): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    const record = this.#records[row]!;
    this.#leave(record);
    this.#topologies.release(this.#topologyOf[row]!);
    this.#rows.delete(key);
    this.#records[row] = undefined;
    this.#topologyOf[row] = undefined;
    this.#freeRows.push(row);
    this.#leaveBacking(row, record);
  }

  putDriverPools(record: DriverPoolsRecord): void {
    const before = this.#driverPools.get(record.key);
    this.#driverPools.set(record.key, record);
    const kept = new Set<string>();
    for (const [storageClass, pools] of record.entries) {
      this.#entry(driverEntryKey(record.key, storageClass));
      for (const pool of pools) {
        kept.add(pool.key);
        this.put(pool);
      }
    }
    this.#dropUnlisted(before, record, kept);
    this.structureVersion += 1;
  }

  deleteDriverPools(driver: string): void {
    const before = this.#driverPools.get(driver);
    if (before === undefined) return;
    this.#driverPools.delete(driver);
    this.#dropUnlisted(before, undefined, new Set());
    this.structureVersion += 1;
  }

  // ── Lookup ──

  /** The pools of today's CSIStorageCapacity objects for a class. */
  classEntry(className: string): PoolEntry | undefined {
    return this.#entries.get(classEntryKey(className));
  }

  /** The most specific entry of the driver's own object: the class (or `<ephemeral>`), else `<fallback>`. */
  driverEntry(driver: string, storageClass: string, fallback: string): PoolEntry | undefined {
    const entries = this.#driverPools.get(driver)?.entries;
    if (entries === undefined) return undefined;
    const chosen = entries.has(storageClass) ? storageClass : entries.has(fallback) ? fallback : undefined;
    return chosen === undefined ? undefined : this.#entries.get(driverEntryKey(driver, chosen));
  }

  /** The nodes by which of these pools they reach; things are pool rows. */
  partitionFor(entry: PoolEntry, rowCount: number): NodePartition {
    return this.#cells.get({ key: entry.key, version: entry.version, rowCount }, () =>
      entry.rows.map((row) => ({ id: row, topology: this.topology(row) })),
    );
  }

  // ── Room ──

  /** The largest single volume that the pool would make, whatever has been promised; undefined is none. */
  limit(row: number): Size | undefined {
    return publishedLimit(this.#records[row]!);
  }

  /** What is left for new volumes once promises are kept. */
  available(row: number): Size {
    return this.#rooms[row]!;
  }

  promisesOf(poolKey: string): ReadonlyMap<string, Size> {
    return this.#promises.get(poolKey) ?? noPromises;
  }

  hasPromises(row: number): boolean {
    for (const other of this.#byBacking.get(this.#records[row]!.backing) ?? []) {
      if (this.#promises.has(this.#records[other]!.key)) return true;
    }
    return false;
  }

  addPromise(poolKey: string, id: string, size: Size): void {
    const promises = this.#promises.get(poolKey) ?? new Map<string, Size>();
    this.#promises.set(poolKey, promises);
    promises.set(id, size);
    this.#promisedSums.set(poolKey, addSizes(this.promisedTotal(poolKey), size));
    this.#refreshBackingOf(poolKey);
  }

  removePromise(poolKey: string, id: string): void {
    const promises = this.#promises.get(poolKey);
    const size = promises?.get(id);
    if (promises === undefined || size === undefined) return;
    promises.delete(id);
    this.#promisedSums.set(poolKey, subtractSizes(this.promisedTotal(poolKey), size));
    if (promises.size === 0) {
      this.#promises.delete(poolKey);
      this.#promisedSums.delete(poolKey);
    }
    this.#refreshBackingOf(poolKey);
  }

  promisedTotal(poolKey: string): Size {
    return this.#promisedSums.get(poolKey) ?? zeroSize;
  }

  // ── Inside ──

  #entry(key: string): PoolEntry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      this.structureVersion += 1;
      entry = new PoolEntry(key, this.structureVersion);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #enter(row: PoolRow, record: PoolRecord): void {
    const entry = this.#entry(entryKeyOf(record));
    entry.rows.splice(this.#position(entry, record.key), 0, row);
    this.structureVersion += 1;
    entry.version = this.structureVersion;
  }

  #leave(record: PoolRecord): void {
    const entry = this.#entry(entryKeyOf(record));
    entry.rows.splice(this.#position(entry, record.key), 1);
    this.structureVersion += 1;
    entry.version = this.structureVersion;
    // An entry of a driver counts by being there, also without pools; that is the driver's to end.
    if (entry.rows.length === 0 && record.driver === undefined) this.#entries.delete(entry.key);
  }

  #setRecord(row: PoolRow, record: PoolRecord): void {
    this.#records[row] = record;
    if (row >= this.limitBytes.length) this.#growColumns();
    this.limitBytes[row] = publishedLimit(record)?.bytes ?? -1;
    this.expiresAtMs[row] = record.expiresAtMs ?? Number.POSITIVE_INFINITY;
  }

  #growColumns(): void {
    this.limitBytes = doubled(this.limitBytes);
    this.availableBytes = doubled(this.availableBytes);
    this.expiresAtMs = doubled(this.expiresAtMs);
  }

  /** Where the pool stands, or would stand, in its entry: by key. */
  #position(entry: PoolEntry, key: string): number {
    return lowerBound(entry.rows, (row) => this.#records[row]!.key < key);
  }

  #replace(row: PoolRow, record: PoolRecord): void {
    const before = this.#records[row]!;
    this.#setRecord(row, record);
    if (before.backing === record.backing) {
      this.#refreshBacking(record.backing);
      return;
    }
    this.#leaveBacking(row, before);
    this.#joinBacking(row, record);
  }

  #joinBacking(row: PoolRow, record: PoolRecord): void {
    addTo(this.#byBacking, record.backing, row);
    this.#refreshBacking(record.backing);
  }

  #leaveBacking(row: PoolRow, record: PoolRecord): void {
    removeFrom(this.#byBacking, record.backing, row);
    this.#refreshBacking(record.backing);
  }

  #refreshBackingOf(poolKey: string): void {
    const record = this.get(poolKey);
    if (record !== undefined) this.#refreshBacking(record.backing);
  }

  /** Rooms of all pools on the same disks; most have no promises, so that only few have to be converted. */
  #refreshBacking(backing: string): void {
    const rows = this.#byBacking.get(backing);
    if (rows === undefined) return;
    const takers = [...rows].filter((row) => this.#promises.has(this.#records[row]!.key));
    for (const row of rows) {
      let room = publishedCapacity(this.#records[row]!);
      for (const taker of takers) {
        const taken = this.promisedTotal(this.#records[taker]!.key);
        room = subtractSizes(room, convertBetweenPools(taken, this.#records[taker]!, this.#records[row]!));
      }
      this.#rooms[row] = room;
      this.availableBytes[row] = room.bytes;
    }
  }

  #dropUnlisted(
    before: DriverPoolsRecord | undefined,
    after: DriverPoolsRecord | undefined,
    kept: ReadonlySet<string>,
  ): void {
    for (const [storageClass, pools] of before?.entries ?? []) {
      for (const pool of pools) if (!kept.has(pool.key)) this.delete(pool.key);
      if (after?.entries.has(storageClass) !== true)
        this.#entries.delete(driverEntryKey(before!.key, storageClass));
    }
  }
}

const noPromises: ReadonlyMap<string, Size> = new Map();

/** The largest single volume: the number that says so, or, where only one is published, that. */
export function publishedLimit(record: PoolRecord): Size | undefined {
  return record.largest ?? record.free;
}

/** What can be given out before promises: the free bytes, or, where only one number is published, that number. */
export function publishedCapacity(record: PoolRecord): Size {
  return record.free ?? record.largest ?? zeroSize;
}

/** Bytes of one pool in the bytes of another on the same disks: 128 GiB mirrored where 256 GiB striped is twice the cost. */
export function convertBetweenPools(size: Size, from: PoolRecord, to: PoolRecord): Size {
  if (from === to) return size;
  const fromRoom = publishedCapacity(from);
  const toRoom = publishedCapacity(to);
  if (compareSizes(fromRoom, zeroSize) <= 0 || compareSizes(fromRoom, toRoom) === 0) return size;
  return scaleSize(size, toRoom, fromRoom);
}

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}

function sameEntry(a: PoolRecord, b: PoolRecord): boolean {
  return entryKeyOf(a) === entryKeyOf(b);
}

function entryKeyOf(record: PoolRecord): string {
  return record.driver === undefined
    ? classEntryKey(record.storageClass)
    : driverEntryKey(record.driver, record.storageClass);
}

function classEntryKey(className: string): string {
  return `class ${className}`;
}

function driverEntryKey(driver: string, storageClass: string): string {
  return `driver ${driver} ${storageClass}`;
}
