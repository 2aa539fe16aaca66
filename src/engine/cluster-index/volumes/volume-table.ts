import { assert } from '../../../runtime/assert.ts';
import { offersModes } from '../../records/access-modes.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { compareSizes } from '../../size.ts';
import type { NodePartition } from '../nodes/node-partition.ts';
import { PartitionCache } from '../nodes/partition-cache.ts';
import type { Topology, TopologyTable } from '../nodes/topology-table.ts';
import { addTo, removeFrom } from '../primitives/maps.ts';
import { SortedLists } from '../primitives/sorted-lists.ts';

declare const brand: unique symbol;
export type VolumeRow = number & { readonly [brand]: 'VolumeRow' };

/**
 * Volumes that no claim can tell apart but by size, place and labels: one class, mode, attributes class and set of
 * access modes. Inside it there is one sorted list for each topology.
 */
export class VolumeGroup {
  readonly id: number;
  readonly accessModes: number;
  readonly lists = new Map<Topology, number>();
  /** Rises when a list comes or goes. */
  version = 0;
  /** All of its volumes in one list, wherever they can be reached from; undefined until somebody asks. */
  everywhere: number | undefined;

  constructor(id: number, accessModes: number) {
    this.id = id;
    this.accessModes = accessModes;
  }
}

/** What a claim asks of a volume besides size, place and labels. */
export interface VolumeGroupQuery {
  readonly className: string;
  readonly mode: string;
  readonly attributesClass: string;
  readonly accessModes: number;
}

/**
 * The PersistentVolumes, with those on offer sorted for matching.
 *
 * On offer is what a claim may take now: Available, unclaimed, not being deleted, and not held by a reservation.
 * Taking a volume off its list or putting it back costs a binary search in one short list, so a reservation costs well
 * under a microsecond.
 */
export class VolumeTable {
  readonly #topologies: TopologyTable;
  readonly #rows = new Map<string, VolumeRow>();
  readonly #records: (VolumeRecord | undefined)[] = [];
  readonly #freeRows: VolumeRow[] = [];
  /** From where each volume can be reached; also for in-tree disks on nodes that serve them through CSI. */
  readonly #reach: (Reach | undefined)[] = [];
  /** The list a volume stands in when it is on offer; kept while it is not, so that reserving changes no structure. */
  readonly #homes: (Home | undefined)[] = [];
  readonly #offered: boolean[] = [];
  readonly #byClaimRef = new Map<string, Set<VolumeRow>>();
  readonly #holderOf = new Map<VolumeRow, string>();
  readonly #heldFor = new Map<string, VolumeRow>();
  readonly #shelves = new Map<string, Map<number, VolumeGroup>>();
  #shelfCount = 0;
  readonly #driversOfClass = new Map<string, Map<string, number>>();
  #inexactCount = 0;
  #preferringCount = 0;
  readonly #homesOfList: number[] = [];
  readonly #cells: PartitionCache;
  readonly lists = new SortedLists((a, b) => this.compareRows(a, b));

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
    this.#cells = new PartitionCache(topologies);
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Every volume's size is the number that the lists are sorted by; comparing numbers is enough. */
  get hasExactSizes(): boolean {
    return this.#inexactCount === 0;
  }

  /** Whether any volume prefers some nodes to others. */
  get hasPreferences(): boolean {
    return this.#preferringCount > 0;
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

  /** The same where the node serves the volume's in-tree plugin through CSI; undefined if nothing changes there. */
  migratedTopology(row: number): Topology | undefined {
    return this.#reach[row]!.migrated;
  }

  *records(): Iterable<VolumeRecord> {
    for (const record of this.#records) if (record !== undefined) yield record;
  }

  isFree(row: number): boolean {
    return this.#offered[row] === true;
  }

  put(record: VolumeRecord): void {
    const row = this.#rows.get(record.key) ?? this.#newRow(record.key);
    const before = this.#records[row];
    this.#takeOff(row);
    if (before !== undefined) this.#unlinkClaimRef(row, before);
    if (before !== undefined && !haveSameHome(before, record)) this.#leaveHome(row);
    this.#count(before, -1);
    this.#count(record, 1);
    this.#records[row] = record;
    this.#moveReach(row, record);
    this.#linkClaimRef(row, record);
    this.#offerIfFree(row);
  }

  delete(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    assert(!this.#holderOf.has(row), `volume ${name} is let go before it is deleted`);
    this.#takeOff(row);
    this.#leaveHome(row);
    this.#moveReach(row, undefined);
    this.#count(this.record(row), -1);
    this.#unlinkClaimRef(row, this.record(row));
    this.#rows.delete(name);
    this.#records[row] = undefined;
    this.#freeRows.push(row);
  }

  // ── Holds: a reservation's claim on a volume ──

  /** The caller has made sure that nobody else holds it. */
  hold(name: string, claimKey: string): void {
    const row = this.#rows.get(name);
    assert(row !== undefined && !this.#holderOf.has(row), `volume ${name} can be held`);
    assert(!this.#heldFor.has(claimKey), `claim ${claimKey} holds no other volume`);
    this.#takeOff(row);
    this.#holderOf.set(row, claimKey);
    this.#heldFor.set(claimKey, row);
  }

  unhold(name: string): void {
    const row = this.#rows.get(name);
    const claimKey = row === undefined ? undefined : this.#holderOf.get(row);
    if (row === undefined || claimKey === undefined) return;
    this.#holderOf.delete(row);
    this.#heldFor.delete(claimKey);
    this.#offerIfFree(row);
  }

  holderOf(name: string): string | undefined {
    const row = this.#rows.get(name);
    return row === undefined ? undefined : this.#holderOf.get(row);
  }

  heldFor(claimKey: string): VolumeRecord | undefined {
    const row = this.#heldFor.get(claimKey);
    return row === undefined ? undefined : this.record(row);
  }

  // ── Finding ──

  /** Volumes whose claimRef names the claim, with or without a uid, in name order. */
  claimedFor(claimKey: string): VolumeRecord[] {
    const rows = this.#byClaimRef.get(claimKey);
    if (rows === undefined) return [];
    return [...rows].map((row) => this.record(row)).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The CSI drivers of a class's volumes; any of them may be the one that a claim gets. */
  driversOf(className: string): Iterable<string> {
    return this.#driversOfClass.get(className)?.keys() ?? [];
  }

  groupsFor(query: VolumeGroupQuery): VolumeGroup[] {
    const byModes = this.#shelves.get(shelfKey(query));
    if (byModes === undefined) return [];
    return [...byModes.values()].filter((shelf) => offersModes(shelf.accessModes, query.accessModes));
  }

  /** The nodes by what they see of these shelves; things are list numbers. */
  partitionFor(shelves: readonly VolumeGroup[], rowCount: number): NodePartition {
    const version = shelves.reduce((sum, shelf) => sum + shelf.version, 0);
    const key = shelves.map((shelf) => shelf.id).join(' ');
    return this.#cells.get({ key, version, rowCount }, () =>
      shelves.flatMap((shelf) => [...shelf.lists].map(([topology, list]) => ({ id: list, topology }))),
    );
  }

  /**
   * All that a shelf has on offer in one sorted list, for those who choose without a node. It is kept from the first question
   * on: whoever never asks doesn't pay for it.
   */
  listOnAllNodes(shelf: VolumeGroup): number {
    if (shelf.everywhere !== undefined) return shelf.everywhere;
    const list = this.lists.create();
    for (const part of shelf.lists.values()) {
      for (let slot = this.lists.starts[part]!; slot < this.lists.ends[part]!; slot++)
        this.lists.insert(list, this.lists.rows[slot]!, this.lists.bytes[slot]!);
    }
    shelf.everywhere = list;
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
    this.#homes[row] = undefined;
    this.#reach[row] = undefined;
    this.#offered[row] = false;
    return row;
  }

  #count(record: VolumeRecord | undefined, step: 1 | -1): void {
    if (record?.size.exactNano !== undefined) this.#inexactCount += step;
    if (record !== undefined && record.preferredNodes.length > 0) this.#preferringCount += step;
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

  #offerIfFree(row: VolumeRow): void {
    const record = this.record(row);
    if (!isFree(record) || this.#holderOf.has(row)) return;
    this.#homes[row] ??= this.#enterHome(row);
    const { list, shelf } = this.#homes[row]!;
    this.lists.insert(list, row, record.size.bytes);
    if (shelf.everywhere !== undefined) this.lists.insert(shelf.everywhere, row, record.size.bytes);
    this.#offered[row] = true;
  }

  /** Before the record changes: the list is searched by the record's size and name. */
  #takeOff(row: VolumeRow): void {
    if (!this.#offered[row]) return;
    const { list, shelf } = this.#homes[row]!;
    const { bytes } = this.record(row).size;
    let isRemoved = this.lists.remove(list, row, bytes);
    if (shelf.everywhere !== undefined)
      isRemoved = this.lists.remove(shelf.everywhere, row, bytes) && isRemoved;
    assert(isRemoved, `volume ${this.record(row).key} stands where it was put`);
    this.#offered[row] = false;
  }

  /** Acquires before it releases, so that an unchanged topology stays the same object. */
  #moveReach(row: VolumeRow, record: VolumeRecord | undefined): void {
    const before = this.#reach[row];
    this.#reach[row] = record && {
      topology: this.#topologies.acquire(record.nodes),
      migrated: record.migrated && this.#topologies.acquire(record.migrated.nodes),
    };
    if (before !== undefined) this.#topologies.release(before.topology);
    if (before?.migrated !== undefined) this.#topologies.release(before.migrated);
  }

  #enterHome(row: VolumeRow): Home {
    const shelf = this.#shelf(this.record(row));
    const topology = this.topology(row);
    let list = shelf.lists.get(topology);
    if (list === undefined) {
      list = this.lists.create();
      shelf.lists.set(topology, list);
      shelf.version += 1;
      this.#homesOfList[list] = 0;
    }
    this.#homesOfList[list]! += 1;
    return { shelf, topology, list };
  }

  #leaveHome(row: VolumeRow): void {
    const home = this.#homes[row];
    if (home === undefined) return;
    this.#homes[row] = undefined;
    this.#homesOfList[home.list]! -= 1;
    if (this.#homesOfList[home.list] === 0) {
      home.shelf.lists.delete(home.topology);
      home.shelf.version += 1;
      this.lists.destroy(home.list);
    }
  }

  #shelf(record: VolumeRecord): VolumeGroup {
    const key = shelfKey(record);
    let byModes = this.#shelves.get(key);
    if (byModes === undefined) {
      byModes = new Map();
      this.#shelves.set(key, byModes);
    }
    let shelf = byModes.get(record.accessModes);
    if (shelf === undefined) {
      shelf = new VolumeGroup(this.#shelfCount++, record.accessModes);
      byModes.set(record.accessModes, shelf);
    }
    return shelf;
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

interface Home {
  readonly shelf: VolumeGroup;
  readonly topology: Topology;
  readonly list: number;
}

export function compareVolumes(a: VolumeRecord, b: VolumeRecord): number {
  const bySize = compareSizes(a.size, b.size);
  if (bySize !== 0) return bySize;
  return a.key === b.key ? 0 : a.key < b.key ? -1 : 1;
}

/** Free for any claim that fits, as far as the object itself says. */
function isFree(record: VolumeRecord): boolean {
  return record.isUsable && record.phase === 'Available' && !record.isDeleting && record.claim === undefined;
}

function haveSameHome(a: VolumeRecord, b: VolumeRecord): boolean {
  return a.accessModes === b.accessModes && a.nodes.key === b.nodes.key && shelfKey(a) === shelfKey(b);
}

function shelfKey({ className, mode, attributesClass }: Omit<VolumeGroupQuery, 'accessModes'>): string {
  return `${className}\n${mode}\n${attributesClass}`;
}
