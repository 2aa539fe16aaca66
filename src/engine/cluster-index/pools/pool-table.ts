import type { DriveExclusion } from '../../drives/drive-record.ts';
import type { DriveKind } from '../../drives/drive-requirements.ts';
import { type DriveSurroundings, exclusionAmong } from '../../drives/drive-state.ts';
import { addTo, removeFrom, setOrDelete } from '../../maps.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import {
  type DriveFacts,
  type DriverPoolsRecord,
  type PoolRecord,
  withClassBacking,
} from '../../records/pool-record.ts';
import { type Size, subtractSizes, zeroSize } from '../../size.ts';
import type { NodePartition } from '../nodes/node-partition.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import { PartitionCache } from '../nodes/partition-cache.ts';
import type { Topology, TopologyTable } from '../nodes/topology-table.ts';
import { type DriverPoolsDifference, differingPools } from '../pool-changes.ts';
import { lowerBound } from '../primitives/binary-search.ts';
import { DriveEntries } from './drive-entries.ts';
import { DriverEntries } from './driver-entries.ts';
import { classEntryKey, driverEntryKey, entryKeyOf, PoolEntry, type PoolRow } from './pool-entry.ts';
import { PoolExpiry } from './pool-expiry.ts';
import { PromisedBytes } from './promised-bytes.ts';
import { convertBetweenPools, publishedCapacity, publishedLimit } from './published-capacity-reports.ts';

/**
 * The capacity pools of all forms, with the capacity that is promised to claims.
 *
 * A promise reserves bytes of one pool for a claim in flight. It is identified by the claim's key and outlives the pool's record.
 * Pools with the same backing share their disks: the available capacity of each is what it publishes, less the promises of all of
 * them, converted to its own bytes by the ratio of the published sizes.
 */
export class PoolTable {
  readonly #topologies: TopologyTable;
  readonly #nodes: NodeTable;
  /** False: nothing is known about Nodes, so those of drives count as existing. */
  knowsNodes = true;
  readonly #rows = new Map<string, PoolRow>();
  readonly #freeRows: PoolRow[] = [];
  readonly #records: (PoolRecord | undefined)[] = [];
  readonly #available: Size[] = [];
  /**
   * The columns that plans compare, by row: the largest single volume (-1 if the pool provisions none), and the available capacity after
   * promises. Sizes that doubles can't represent exactly are compared again as exact sizes on a tie.
   */
  limitBytes = new Float64Array(64);
  availableBytes = new Float64Array(64);
  readonly expiry = new PoolExpiry();
  readonly #topologyOf: (Topology | undefined)[] = [];
  readonly #entries = new Map<string, PoolEntry>();
  readonly #byBacking = new Map<string, Set<PoolRow>>();
  /** Keyed by the name of the object. */
  readonly #driverPools = new Map<string, DriverPoolsRecord>();
  readonly #drivers = new DriverEntries();
  readonly #drives = new DriveEntries();
  readonly #promised = new PromisedBytes();
  readonly #cells: PartitionCache;
  /** Increases when a pool is added, removed or moved. Promises that were assigned by topology are then assigned again. */
  structureVersion = 0;

  constructor(topologies: TopologyTable, nodes: NodeTable) {
    this.#topologies = topologies;
    this.#nodes = nodes;
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

  /** The pools of one DriverCapacity object. */
  driverPools(objectName: string): DriverPoolsRecord | undefined {
    return this.#driverPools.get(objectName);
  }

  /** Whether a DriverCapacity tracks the driver's capacity. */
  isDriverTracked(driver: string): boolean {
    return this.#drivers.isTracked(driver);
  }

  /** Whether these objects are about classes too, and not only about inline volumes. */
  coversClasses(driver: string): boolean {
    return this.#drivers.coversClasses(driver);
  }

  get hasDrives(): boolean {
    return !this.#drives.isEmpty;
  }

  /** The key of the drive whose ledger has the volume of the claim. */
  driveOfClaim(claimUid: string): string | undefined {
    return this.#drives.poolOfClaim(claimUid);
  }

  /** The keys of the drives whose ledgers have inline volumes of the pod. */
  drivesOfPod(podUid: string): Iterable<string> {
    return this.#drives.poolsOfPod(podUid);
  }

  /** The keys of the drives that have a volume of the group, or to which one is promised; undefined if there are none. */
  drivesWithGroup(group: string): ReadonlyMap<string, unknown> | undefined {
    return this.#drives.groups.drivesWith(group);
  }

  /** The pools of the Drives that name a filesystem. */
  drivesOnFilesystem(filesystem: string): readonly PoolRecord[] {
    return this.#drives.onFilesystem(filesystem);
  }

  *records(): Iterable<PoolRecord> {
    for (const record of this.#records) if (record !== undefined) yield record;
  }

  topology(row: number): Topology {
    return this.#topologyOf[row]!;
  }

  poolsOnBacking(backing: string): PoolRecord[] {
    return [...(this.#byBacking.get(backing) ?? [])].map((row) => this.#records[row]!);
  }

  /** The pools on the same disks, including the pool itself; empty if the pool doesn't exist. */
  poolsOnSameBacking(key: string): PoolRecord[] {
    const record = this.get(key);
    return record === undefined ? [] : this.poolsOnBacking(record.backing);
  }

  // ── Records ──

  put(record: PoolRecord): void {
    const known = this.#rows.get(record.key);
    if (
      known !== undefined &&
      this.#records[known]!.nodes.key === record.nodes.key &&
      entryKeyOf(this.#records[known]!) === entryKeyOf(record)
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
    this.expiry.recordChanged(row, record, undefined);
    this.#records[row] = undefined;
    this.#topologyOf[row] = undefined;
    this.#freeRows.push(row);
    this.#leaveBacking(row, record);
  }

  /** The Node of this name was created or deleted. */
  nodeChanged(name: string): void {
    for (const key of this.#drives.ofNode(name)) this.#refreshBackingOf(key);
  }

  /** The annotations of a class say which disks its pools use. */
  classChanged(className: string, storageClass: ClassRecord | undefined): void {
    const own = [...this.records()].filter((record) => record.storageClass === className);
    for (const record of own) this.put(withClassBacking(record, storageClass));
  }

  /** Writes only what differs from the object's last version; `record` is undefined if the object is deleted. */
  setDriverPools(objectName: string, record: DriverPoolsRecord | undefined): DriverPoolsDifference {
    const before = this.#driverPools.get(objectName);
    setOrDelete(this.#driverPools, objectName, record);
    const { entries, changesTracking } = this.#drivers.replace(before, record);
    if (changesTracking || entries.length > 0) this.structureVersion += 1;
    const pools = differingPools(before, record);
    for (const { before: former, after } of pools) {
      if (after === undefined) this.delete(former!.key);
      else this.put(after);
    }
    return { pools, entries, changesTracking };
  }

  // ── Lookup ──

  /** The pools of the CSIStorageCapacity objects for a class. */
  classEntry(className: string): PoolEntry | undefined {
    return this.#entries.get(classEntryKey(className));
  }

  /** The most specific entry of the driver's DriverCapacity objects: the class (or `<ephemeral>`), else `<fallback>`. */
  driverEntry(driver: string, storageClass: string): PoolEntry | undefined {
    const chosen = this.driverEntryName(driver, storageClass);
    if (chosen === undefined) return undefined;
    const key = driverEntryKey(driver, chosen);
    return this.#entries.get(key) ?? new PoolEntry(key, versionWithoutPools);
  }

  /** The drives of a kind. */
  driveEntry(kind: DriveKind): PoolEntry {
    return this.#drives.entryOf(kind, this.structureVersion);
  }

  /** The class whose entry serves volumes of the class: itself or `<fallback>`; undefined if there is neither. */
  driverEntryName(driver: string, storageClass: string): string | undefined {
    return this.#drivers.entryName(driver, storageClass);
  }

  /** The nodes, partitioned by the pools of the entry that they reach. Items are pool rows. */
  partitionFor(entry: PoolEntry, rowCount: number): NodePartition {
    return this.#cells.get({ key: entry.key, version: entry.version, rowCount }, () =>
      entry.rows.map((row) => ({ id: row, topology: this.topology(row) })),
    );
  }

  // ── Capacity ──

  /** The largest single volume that the pool can provision, regardless of promises; undefined if it provisions none. */
  limit(row: number): Size | undefined {
    const record = this.#records[row]!;
    return this.#isSetAside(record) ? undefined : publishedLimit(record);
  }

  /** The free bytes of the pool before promises are deducted. The bytes of a filesystem count once, however many Drives name it. */
  capacity(row: number): Size {
    const record = this.#records[row]!;
    return this.#isSetAside(record) ? zeroSize : publishedCapacity(record);
  }

  /** Why a drive takes no new volumes; undefined if it does, and for other pools. */
  exclusion(row: number): DriveExclusion | undefined {
    const record = this.#records[row]!;
    return record.drive && exclusionAmong(record.drive.exclusion, this.#surroundingsOf(record, record.drive));
  }

  /** Whether the bytes of the filesystem of a drive count with another Drive. */
  isDuplicate(row: number): boolean {
    return this.#isDuplicate(this.#records[row]!);
  }

  /** The free bytes for new volumes after all promises. */
  available(row: number): Size {
    return this.#available[row]!;
  }

  promisesOf(poolKey: string): ReadonlyMap<string, Size> {
    return this.#promised.of(poolKey);
  }

  hasPromises(row: number): boolean {
    for (const other of this.#byBacking.get(this.#records[row]!.backing) ?? []) {
      if (this.#promised.has(this.#records[other]!.key)) return true;
    }
    return false;
  }

  /** `spreadGroup`: the pool is a drive, and the group of the volume is kept away from it. */
  addPromise(poolKey: string, id: string, size: Size, spreadGroup?: string): void {
    if (spreadGroup !== undefined) this.#drives.groups.add(spreadGroup, poolKey);
    this.#promised.add(poolKey, id, size);
    this.#refreshBackingOf(poolKey);
  }

  removePromise(poolKey: string, id: string, spreadGroup?: string): void {
    if (!this.#promised.remove(poolKey, id)) return;
    if (spreadGroup !== undefined) this.#drives.groups.remove(spreadGroup, poolKey);
    this.#refreshBackingOf(poolKey);
  }

  /** The bytes that the promises take of the pool. */
  promisedTotal(poolKey: string): Size {
    return this.#promised.total(poolKey, this.get(poolKey));
  }

  // ── Entries, columns and backings ──

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
    if (record.form === 'Drive') {
      this.#drives.add(row, record);
      this.#refreshFilesystem(record);
      this.structureVersion += 1;
      return;
    }
    const entry = this.#entry(entryKeyOf(record));
    entry.rows.splice(this.#position(entry, record.key), 0, row);
    this.structureVersion += 1;
    entry.version = this.structureVersion;
  }

  #leave(record: PoolRecord): void {
    if (record.form === 'Drive') {
      this.#drives.delete(record);
      this.#refreshFilesystem(record);
      this.structureVersion += 1;
      return;
    }
    const entry = this.#entry(entryKeyOf(record));
    entry.rows.splice(this.#position(entry, record.key), 1);
    this.structureVersion += 1;
    entry.version = this.structureVersion;
    if (entry.rows.length === 0) this.#entries.delete(entry.key);
  }

  #setRecord(row: PoolRow, record: PoolRecord): void {
    this.expiry.recordChanged(row, this.#records[row], record);
    this.#records[row] = record;
    if (row >= this.limitBytes.length) this.#growColumns();
  }

  #growColumns(): void {
    this.limitBytes = doubled(this.limitBytes);
    this.availableBytes = doubled(this.availableBytes);
  }

  /** The pool's position in its entry, or where to insert it. Entries are sorted by key. */
  #position(entry: PoolEntry, key: string): number {
    return lowerBound(entry.rows, (row) => this.#records[row]!.key < key);
  }

  #replace(row: PoolRow, record: PoolRecord): void {
    const before = this.#records[row]!;
    if (record.form === 'Drive') this.#drives.replace(before, record);
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

  /** Recomputes the available capacity of all pools on the same disks. Few pools have promises, so few conversions are needed. */
  #refreshBacking(backing: string): void {
    const rows = this.#byBacking.get(backing);
    if (rows === undefined) return;
    const promisedRows = [...rows].filter((row) => this.#promised.has(this.#records[row]!.key));
    for (const row of rows) {
      let available = this.capacity(row);
      for (const promisedRow of promisedRows) {
        const taken = this.promisedTotal(this.#records[promisedRow]!.key);
        available = subtractSizes(
          available,
          convertBetweenPools(taken, this.#records[promisedRow]!, this.#records[row]!),
        );
      }
      this.#available[row] = available;
      this.availableBytes[row] = available.bytes;
      this.limitBytes[row] = this.limit(row)?.bytes ?? -1;
    }
  }

  /** Whether other objects, its Node or another Drive, keep a drive from taking volumes. */
  #isSetAside(record: PoolRecord): boolean {
    const { drive } = record;
    return (
      drive !== undefined && exclusionAmong(undefined, this.#surroundingsOf(record, drive)) !== undefined
    );
  }

  #surroundingsOf(record: PoolRecord, { nodeName }: DriveFacts): DriveSurroundings {
    const hasNode = !this.knowsNodes || this.#nodes.row(nodeName) !== undefined;
    return { isDuplicate: this.#isDuplicate(record), hasNode };
  }

  #isDuplicate(record: PoolRecord): boolean {
    return record.drive !== undefined && this.#drives.isDuplicate(record);
  }

  /** A Drive that comes or goes decides which of the others on its filesystem counts. */
  #refreshFilesystem({ drive }: PoolRecord): void {
    for (const { backing } of this.#drives.onFilesystem(drive!.user.filesystem))
      this.#refreshBacking(backing);
  }
}

/** No entry with pools has this version. */
const versionWithoutPools = 0;

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}
