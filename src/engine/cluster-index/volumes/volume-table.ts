import { assert } from '../../../runtime/assert.ts';
import { addTo, removeFrom } from '../../maps.ts';
import { offersModes } from '../../records/access-modes.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { compareSizes } from '../../size.ts';
import type { NodePartition } from '../nodes/node-partition.ts';
import { PartitionCache } from '../nodes/partition-cache.ts';
import type { Topology, TopologyTable } from '../nodes/topology-table.ts';
import { SortedLists } from '../primitives/sorted-lists.ts';

declare const brand: unique symbol;
export type VolumeRow = number & { readonly [brand]: 'VolumeRow' };

/**
 * Volumes with the same class, mode, attributes class and access modes. To a claim they differ only in size, topology and labels.
 * A group has one sorted list of its free volumes for each topology.
 */
export class VolumeGroup {
  readonly id: number;
  readonly accessModes: number;
  readonly lists = new Map<Topology, number>();
  /** Increases when a list is created or destroyed. */
  version = 0;
  /** All free volumes of the group in one list, whatever their topology; undefined until first used. */
  listOnAllNodes: number | undefined;

  constructor(id: number, accessModes: number) {
    this.id = id;
    this.accessModes = accessModes;
  }
}

/** The requirements of a claim besides size, topology and labels. */
export interface VolumeGroupQuery {
  readonly className: string;
  readonly mode: string;
  readonly attributesClass: string;
  readonly accessModes: number;
}

/**
 * The PersistentVolumes, with the free ones sorted for matching.
 *
 * A volume is free if a claim may use it now: it is Available, unclaimed, not being deleted, and not held by a reservation. Removing
 * a volume from its list or inserting it again costs a binary search in one short list, so a reservation costs well under a
 * microsecond.
 */
export class VolumeTable {
  readonly #topologies: TopologyTable;
  readonly #rows = new Map<string, VolumeRow>();
  readonly #records: (VolumeRecord | undefined)[] = [];
  readonly #freeRows: VolumeRow[] = [];
  /** The topology of each volume, and that of in-tree disks on nodes that attach them through CSI. */
  readonly #reach: (Reach | undefined)[] = [];
  /** The list that contains the volume while it is free. Kept while it isn't, so that a reservation changes no structure. */
  readonly #locations: (ListLocation | undefined)[] = [];
  readonly #isFree: boolean[] = [];
  readonly #byClaimRef = new Map<string, Set<VolumeRow>>();
  readonly #holderOf = new Map<VolumeRow, string>();
  readonly #heldFor = new Map<string, VolumeRow>();
  readonly #groups = new Map<string, Map<number, VolumeGroup>>();
  #groupCount = 0;
  readonly #driversOfClass = new Map<string, Map<string, number>>();
  #inexactSizeCount = 0;
  #preferenceCount = 0;
  readonly #usersOfList: number[] = [];
  readonly #cells: PartitionCache;
  readonly lists = new SortedLists((a, b) => this.compareRows(a, b));

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
    this.#cells = new PartitionCache(topologies);
  }

  get size(): number {
    return this.#rows.size;
  }

  /** A double represents the size of every volume exactly, so comparing `bytes` is enough. */
  get hasExactSizes(): boolean {
    return this.#inexactSizeCount === 0;
  }

  /** Whether any volume has preferred nodes. */
  get hasPreferences(): boolean {
    return this.#preferenceCount > 0;
  }

  get(name: string): VolumeRecord | undefined {
    const row = this.#rows.get(name);
    return row === undefined ? undefined : this.#records[row];
  }

  row(name: string): VolumeRow | undefined {
    return this.#rows.get(name);
  }

  record(row: number): VolumeRecord {
    const record = this.#records[row];
    assert(record !== undefined, `volume row ${row} is in use`);
    return record;
  }

  topology(row: number): Topology {
    return this.#reach[row]!.topology;
  }

  /** The topology on nodes that serve the volume's in-tree plugin through CSI; undefined if the volume is not migrated. */
  migratedTopology(row: number): Topology | undefined {
    return this.#reach[row]!.migrated;
  }

  *records(): Iterable<VolumeRecord> {
    for (const record of this.#records) if (record !== undefined) yield record;
  }

  isFree(row: number): boolean {
    return this.#isFree[row] === true;
  }

  put(record: VolumeRecord): void {
    const row = this.#rows.get(record.key) ?? this.#newRow(record.key);
    const before = this.#records[row];
    this.#removeFromLists(row);
    if (before !== undefined) this.#unlinkClaimRef(row, before);
    if (before !== undefined && !belongToSameList(before, record)) this.#leaveList(row);
    this.#count(before, -1);
    this.#count(record, 1);
    this.#records[row] = record;
    this.#moveReach(row, record);
    this.#linkClaimRef(row, record);
    this.#insertIfFree(row);
  }

  delete(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    assert(!this.#holderOf.has(row), `volume ${name} is released before it is deleted`);
    this.#removeFromLists(row);
    this.#leaveList(row);
    this.#moveReach(row, undefined);
    this.#count(this.record(row), -1);
    this.#unlinkClaimRef(row, this.record(row));
    this.#rows.delete(name);
    this.#records[row] = undefined;
    this.#freeRows.push(row);
  }

  // ── Holds: a reservation keeps a volume for a claim ──

  /** The caller has checked that no other claim holds the volume. */
  hold(name: string, claimKey: string): void {
    const row = this.#rows.get(name);
    assert(row !== undefined && !this.#holderOf.has(row), `volume ${name} can be held`);
    assert(!this.#heldFor.has(claimKey), `claim ${claimKey} holds no other volume`);
    this.#removeFromLists(row);
    this.#holderOf.set(row, claimKey);
    this.#heldFor.set(claimKey, row);
  }

  releaseHold(name: string): void {
    const row = this.#rows.get(name);
    const claimKey = row === undefined ? undefined : this.#holderOf.get(row);
    if (row === undefined || claimKey === undefined) return;
    this.#holderOf.delete(row);
    this.#heldFor.delete(claimKey);
    this.#insertIfFree(row);
  }

  holderOf(name: string): string | undefined {
    const row = this.#rows.get(name);
    return row === undefined ? undefined : this.#holderOf.get(row);
  }

  heldFor(claimKey: string): VolumeRecord | undefined {
    const row = this.#heldFor.get(claimKey);
    return row === undefined ? undefined : this.record(row);
  }

  // ── Lookup ──

  /** Volumes whose claimRef names the claim, with or without a uid, in name order. */
  claimedFor(claimKey: string): VolumeRecord[] {
    const rows = this.#byClaimRef.get(claimKey);
    if (rows === undefined) return [];
    return [...rows].map((row) => this.record(row)).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The CSI drivers of a class's volumes. A claim may get a volume of any of them. */
  driversOf(className: string): Iterable<string> {
    return this.#driversOfClass.get(className)?.keys() ?? [];
  }

  groupsFor(query: VolumeGroupQuery): VolumeGroup[] {
    const byModes = this.#groups.get(groupKey(query));
    if (byModes === undefined) return [];
    return [...byModes.values()].filter((group) => offersModes(group.accessModes, query.accessModes));
  }

  /** The nodes, partitioned by the lists of these groups that they reach. Items are list numbers. */
  partitionFor(groups: readonly VolumeGroup[], rowCount: number): NodePartition {
    const version = groups.reduce((sum, group) => sum + group.version, 0);
    const key = groups.map((group) => group.id).join(' ');
    return this.#cells.get({ key, version, rowCount }, () =>
      groups.flatMap((group) => [...group.lists].map(([topology, list]) => ({ id: list, topology }))),
    );
  }

  /**
   * All free volumes of a group in one sorted list, for matching without a node. The list is created on first use and kept up to date
   * from then on.
   */
  listOnAllNodes(group: VolumeGroup): number {
    if (group.listOnAllNodes !== undefined) return group.listOnAllNodes;
    const list = this.lists.create();
    for (const part of group.lists.values()) {
      for (let slot = this.lists.starts[part]!; slot < this.lists.ends[part]!; slot++)
        this.lists.insert(list, this.lists.rows[slot]!, this.lists.bytes[slot]!);
    }
    group.listOnAllNodes = list;
    return list;
  }

  /** Smallest first, then by name: the order in which volumes are preferred. */
  compareRows(a: number, b: number): number {
    return compareVolumes(this.record(a), this.record(b));
  }

  // ── Rows and lists ──

  #newRow(name: string): VolumeRow {
    const row = this.#freeRows.pop() ?? (this.#records.length as VolumeRow);
    this.#rows.set(name, row);
    this.#records[row] = undefined;
    this.#locations[row] = undefined;
    this.#reach[row] = undefined;
    this.#isFree[row] = false;
    return row;
  }

  #count(record: VolumeRecord | undefined, step: 1 | -1): void {
    if (record?.size.exactNano !== undefined) this.#inexactSizeCount += step;
    if (record !== undefined && record.preferredNodes.length > 0) this.#preferenceCount += step;
    for (const driver of [record?.csi?.driver, record?.migrated?.driver]) {
      if (driver !== undefined) this.#countDriver(record!.className, driver, step);
    }
  }

  #countDriver(className: string, driver: string, step: 1 | -1): void {
    const counts = this.#driversOfClass.get(className) ?? new Map<string, number>();
    this.#driversOfClass.set(className, counts);
    const count = (counts.get(driver) ?? 0) + step;
    if (count === 0) counts.delete(driver);
    else counts.set(driver, count);
    if (counts.size === 0) this.#driversOfClass.delete(className);
  }

  #insertIfFree(row: VolumeRow): void {
    const record = this.record(row);
    if (!isUnclaimed(record) || this.#holderOf.has(row)) return;
    this.#locations[row] ??= this.#joinList(row);
    const { list, group } = this.#locations[row]!;
    this.lists.insert(list, row, record.size.bytes);
    if (group.listOnAllNodes !== undefined) this.lists.insert(group.listOnAllNodes, row, record.size.bytes);
    this.#isFree[row] = true;
  }

  /** Call this before the record changes: the search uses the record's size and name. */
  #removeFromLists(row: VolumeRow): void {
    if (!this.#isFree[row]) return;
    const { list, group } = this.#locations[row]!;
    const { bytes } = this.record(row).size;
    let isRemoved = this.lists.remove(list, row, bytes);
    if (group.listOnAllNodes !== undefined)
      isRemoved = this.lists.remove(group.listOnAllNodes, row, bytes) && isRemoved;
    assert(isRemoved, `volume ${this.record(row).key} is in its list`);
    this.#isFree[row] = false;
  }

  /** Acquires the new topology before it releases the old one, so that an unchanged topology remains the same object. */
  #moveReach(row: VolumeRow, record: VolumeRecord | undefined): void {
    const before = this.#reach[row];
    this.#reach[row] = record && {
      topology: this.#topologies.acquire(record.nodes),
      migrated: record.migrated && this.#topologies.acquire(record.migrated.nodes),
    };
    if (before !== undefined) this.#topologies.release(before.topology);
    if (before?.migrated !== undefined) this.#topologies.release(before.migrated);
  }

  #joinList(row: VolumeRow): ListLocation {
    const group = this.#groupOf(this.record(row));
    const topology = this.topology(row);
    let list = group.lists.get(topology);
    if (list === undefined) {
      list = this.lists.create();
      group.lists.set(topology, list);
      group.version += 1;
      this.#usersOfList[list] = 0;
    }
    this.#usersOfList[list]! += 1;
    return { group, topology, list };
  }

  #leaveList(row: VolumeRow): void {
    const location = this.#locations[row];
    if (location === undefined) return;
    this.#locations[row] = undefined;
    this.#usersOfList[location.list]! -= 1;
    if (this.#usersOfList[location.list] === 0) {
      location.group.lists.delete(location.topology);
      location.group.version += 1;
      this.lists.destroy(location.list);
    }
  }

  #groupOf(record: VolumeRecord): VolumeGroup {
    const key = groupKey(record);
    let byModes = this.#groups.get(key);
    if (byModes === undefined) {
      byModes = new Map();
      this.#groups.set(key, byModes);
    }
    let group = byModes.get(record.accessModes);
    if (group === undefined) {
      group = new VolumeGroup(this.#groupCount++, record.accessModes);
      byModes.set(record.accessModes, group);
    }
    return group;
  }

  #linkClaimRef(row: VolumeRow, record: VolumeRecord): void {
    if (record.claim !== undefined) addTo(this.#byClaimRef, record.claim.claimKey, row);
  }

  #unlinkClaimRef(row: VolumeRow, record: VolumeRecord): void {
    if (record.claim !== undefined) removeFrom(this.#byClaimRef, record.claim.claimKey, row);
  }
}

interface Reach {
  readonly topology: Topology;
  readonly migrated: Topology | undefined;
}

interface ListLocation {
  readonly group: VolumeGroup;
  readonly topology: Topology;
  readonly list: number;
}

export function compareVolumes(a: VolumeRecord, b: VolumeRecord): number {
  const bySize = compareSizes(a.size, b.size);
  if (bySize !== 0) return bySize;
  return a.key === b.key ? 0 : a.key < b.key ? -1 : 1;
}

/** Whether any matching claim may use the volume, by the object alone; reservations are checked separately. */
function isUnclaimed(record: VolumeRecord): boolean {
  return record.isUsable && record.phase === 'Available' && !record.isDeleting && record.claim === undefined;
}

function belongToSameList(a: VolumeRecord, b: VolumeRecord): boolean {
  return a.accessModes === b.accessModes && a.nodes.key === b.nodes.key && groupKey(a) === groupKey(b);
}

function groupKey({ className, mode, attributesClass }: Omit<VolumeGroupQuery, 'accessModes'>): string {
  return `${className}\n${mode}\n${attributesClass}`;
}
