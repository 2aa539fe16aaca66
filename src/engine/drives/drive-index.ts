import { driveNodeKey } from '../../kube/stowage/drive.ts';
import { DriveList, type ListedDrive } from './drive-list.ts';
import { type DriveRecord, promisedBytes } from './drive-record.ts';
import { type DriveKind, isInTerm, isOfKind, type TopologyTerm } from './drive-requirements.ts';
import type { CandidateDrive } from './drive-rule.ts';
import { exclusionAmong } from './drive-state.ts';
import { ownerOfFilesystem } from './shared-filesystems.ts';

/**
 * Drives by the properties that requests select: access tier, topology segment, label and free bytes. A drive is in one sorted list for each of its
 * segments and labels, and for no segment at all; each of these lists exists for its tier and for any tier. A question starts from the
 * shortest list that contains every answer.
 *
 * Bytes can be *held* for a volume whose entry is being written, so that the next choice does not count on them. A hold ends with
 * `release`; it counts only while the drive's own ledger does not have the volume.
 *
 * Of several Drives with one filesystem, only its owner takes volumes: the records of the others have the exclusion `Duplicate`. Drives of a
 * node that does not exist have the exclusion `NodeGone`.
 */
export class DriveIndex {
  readonly #hasNode: (name: string) => boolean;
  readonly #byNode = new Map<string, Set<IndexedDrive>>();
  readonly #drives = new Map<string, IndexedDrive>();
  /** Drives with an entry or a hold, by the volume's name. */
  readonly #byVolume = new Map<string, Set<string>>();
  readonly #byFilesystem = new Map<string, Set<IndexedDrive>>();
  readonly #eligible = new Map<string, DriveList<IndexedDrive>>();
  /** Drives that take no new volumes, for explanations. */
  readonly #excluded = new Map<string, DriveList<IndexedDrive>>();
  #orders = 0;

  /** `hasNode` says whether a Node exists. Call `nodeChanged` when its result changes. */
  constructor(hasNode: (name: string) => boolean = () => true) {
    this.#hasNode = hasNode;
  }

  get size(): number {
    return this.#drives.size;
  }

  get(name: string): IndexedDrive | undefined {
    return this.#drives.get(name);
  }

  values(): Iterable<IndexedDrive> {
    return this.#drives.values();
  }

  /** Names of the drives whose ledger has an entry for the volume. */
  drivesOf(volume: string): readonly string[] {
    const names = [...(this.#byVolume.get(volume) ?? [])];
    return names.filter((name) => this.#drives.get(name)?.hasEntry(volume));
  }

  /** Adds a drive, or replaces what is known about it. Holds stay. */
  set(record: DriveRecord): void {
    const drive = this.#drives.get(record.name);
    if (drive !== undefined) {
      const before = drive.record;
      this.#change(drive, () => drive.replace(record));
      if (before.filesystem !== record.filesystem) this.#leaveFilesystem(drive, before.filesystem);
      this.#joinFilesystem(drive);
      if (before.nodeName !== record.nodeName) this.#leaveNode(drive, before.nodeName);
      this.#joinNode(drive);
      return;
    }
    const added = new IndexedDrive(record, this.#orders++);
    this.#drives.set(record.name, added);
    this.#list(added);
    this.#nameVolumes(added, noNames);
    this.#joinFilesystem(added);
    this.#joinNode(added);
  }

  /** The drives of a node. */
  drivesOn(node: string): readonly IndexedDrive[] {
    return [...(this.#byNode.get(node) ?? [])];
  }

  /** The Node of this name was created or deleted. Returns the drives that take other volumes than before. */
  nodeChanged(name: string): readonly IndexedDrive[] {
    return this.drivesOn(name).filter((drive) => this.#checkNode(drive));
  }

  /** The names of the nodes that the drives name. */
  get nodeNames(): readonly string[] {
    return [...this.#byNode.keys()];
  }

  /** The other Drives of the same filesystem. */
  sharing(name: string): readonly IndexedDrive[] {
    const drive = this.#drives.get(name);
    const users = drive && this.#byFilesystem.get(drive.record.filesystem);
    return users === undefined || users.size === 1 ? [] : [...users].filter((user) => user !== drive);
  }

  /** The Drive that the filesystem of this one belongs to, if it is another one. */
  ownerOf(name: string): IndexedDrive | undefined {
    const drive = this.#drives.get(name);
    if (drive?.isDuplicate !== true) return undefined;
    const owner = ownerOfFilesystem([drive, ...this.sharing(name)].map(({ record }) => record));
    return this.#drives.get(owner?.name ?? '');
  }

  delete(name: string): void {
    const drive = this.#drives.get(name);
    if (drive === undefined) return;
    this.#unlist(drive);
    this.#drives.delete(name);
    this.#leaveFilesystem(drive, drive.record.filesystem);
    this.#leaveNode(drive, drive.record.nodeName);
    for (const volume of drive.volumeNames) this.#forgetVolume(volume, name);
  }

  /** Counts the bytes of a volume whose entry is being written. */
  hold(name: string, volume: string, held: DriveHold): void {
    const drive = this.#drives.get(name);
    if (drive !== undefined) this.#change(drive, () => drive.hold(volume, held));
  }

  release(name: string, volume: string): void {
    const drive = this.#drives.get(name);
    if (drive !== undefined) this.#change(drive, () => drive.release(volume));
  }

  /** The shortest list with all drives of the kind in the term that take new volumes; others may be in it too. */
  shortestList(kind: DriveKind, term: TopologyTerm): DriveList<IndexedDrive> {
    return shortestOf(this.#eligible, kind, term);
  }

  /** The same for drives that take no new volumes. */
  shortestExcludedList(kind: DriveKind, term: TopologyTerm): DriveList<IndexedDrive> {
    return shortestOf(this.#excluded, kind, term);
  }

  #joinNode(drive: IndexedDrive): void {
    const { nodeName } = drive.record;
    this.#byNode.set(nodeName, (this.#byNode.get(nodeName) ?? new Set()).add(drive));
    this.#checkNode(drive);
  }

  /** Returns whether the Node was created or deleted since the last check. */
  #checkNode(drive: IndexedDrive): boolean {
    const hasNode = this.#hasNode(drive.record.nodeName);
    if (drive.hasNode === hasNode) return false;
    this.#change(drive, () => drive.setHasNode(hasNode));
    return true;
  }

  #leaveNode(drive: IndexedDrive, nodeName: string): void {
    const own = this.#byNode.get(nodeName);
    if (own?.delete(drive) === true && own.size === 0) this.#byNode.delete(nodeName);
  }

  #joinFilesystem(drive: IndexedDrive): void {
    const { filesystem } = drive.record;
    if (filesystem === '') return;
    const users = this.#byFilesystem.get(filesystem) ?? new Set();
    this.#byFilesystem.set(filesystem, users.add(drive));
    this.#excludeDuplicates(users);
  }

  #leaveFilesystem(drive: IndexedDrive, filesystem: string): void {
    const users = this.#byFilesystem.get(filesystem);
    if (users?.delete(drive) !== true) return;
    if (users.size === 0) this.#byFilesystem.delete(filesystem);
    else this.#excludeDuplicates(users);
  }

  #excludeDuplicates(users: ReadonlySet<IndexedDrive>): void {
    const owner = users.size === 1 ? undefined : ownerOfFilesystem([...users].map(({ record }) => record));
    for (const user of users) {
      const isDuplicate = owner !== undefined && user.name !== owner.name;
      if (user.isDuplicate !== isDuplicate) this.#change(user, () => user.setDuplicate(isDuplicate));
    }
  }

  /** Moves the drive in its lists only if its place in them changes: an entry that takes the place of a hold changes nothing. */
  #change(drive: IndexedDrive, change: () => void): void {
    const before = drive.place;
    const names = drive.volumeNames;
    change();
    const after = drive.place;
    if (!isSamePlace(before, after)) this.#move(drive, before, after);
    if (names !== drive.volumeNames) this.#nameVolumes(drive, names);
  }

  #move(drive: IndexedDrive, before: Place, after: Place): void {
    const staysInLists = before.keys === after.keys && before.isExcluded === after.isExcluded;
    drive.place = before;
    if (staysInLists) for (const list of drive.lists) list.remove(drive);
    else this.#unlist(drive);
    drive.place = after;
    if (staysInLists) for (const list of drive.lists) list.insert(drive);
    else this.#list(drive);
  }

  #list(drive: IndexedDrive): void {
    const lists = this.#listsFor(drive);
    drive.lists = drive.place.keys.map((key) => listOf(lists, key));
    for (const list of drive.lists) list.insert(drive);
  }

  #unlist(drive: IndexedDrive): void {
    const lists = this.#listsFor(drive);
    for (const key of drive.place.keys) {
      const list = lists.get(key);
      list?.remove(drive);
      if (list?.length === 0) lists.delete(key);
    }
  }

  #nameVolumes({ name, volumeNames }: IndexedDrive, before: ReadonlySet<string>): void {
    for (const volume of volumeNames) if (!before.has(volume)) drivesIn(this.#byVolume, volume).add(name);
    for (const volume of before) if (!volumeNames.has(volume)) this.#forgetVolume(volume, name);
  }

  #forgetVolume(volume: string, drive: string): void {
    const names = drivesIn(this.#byVolume, volume);
    names.delete(drive);
    if (names.size === 0) this.#byVolume.delete(volume);
  }

  #listsFor({ place }: IndexedDrive): Map<string, DriveList<IndexedDrive>> {
    return place.isExcluded ? this.#excluded : this.#eligible;
  }
}

/** A volume whose entry is being written. */
export interface DriveHold {
  readonly bytes: number;
  readonly spreadGroup?: string | undefined;
}

/** Where a drive is in the lists. */
interface Place {
  readonly freeBytes: number;
  readonly isExcluded: boolean;
  readonly keys: readonly string[];
}

function isSamePlace(a: Place, b: Place): boolean {
  return (
    a.freeBytes === b.freeBytes &&
    a.isExcluded === b.isExcluded &&
    (a.keys === b.keys ||
      (a.keys.length === b.keys.length && a.keys.every((key, position) => key === b.keys[position])))
  );
}

/** A drive, and what is held on it. */
export class IndexedDrive implements ListedDrive, CandidateDrive {
  readonly order: number;
  /* Only `DriveIndex` sets the next two. */
  place: Place;
  /** Those that it is in: found once, and not with every change of its free bytes. */
  lists: readonly DriveList<IndexedDrive>[] = [];
  /** The record as it was read; `#record` is the one that counts. */
  #read: DriveRecord;
  #record: DriveRecord;
  #isDuplicate = false;
  #hasNode = true;
  #entries: ReadonlySet<string>;
  #volumeNames: ReadonlySet<string>;
  readonly #held = new Map<string, DriveHold>();

  constructor(record: DriveRecord, order: number) {
    this.order = order;
    this.#read = record;
    this.#record = record;
    this.#entries = namesIn(record);
    this.#volumeNames = this.#entries;
    this.place = this.#placeWith([...listKeys(record)]);
  }

  get record(): DriveRecord {
    return this.#record;
  }

  get name(): string {
    return this.#record.name;
  }

  /** Whether its filesystem belongs to another Drive. */
  get isDuplicate(): boolean {
    return this.#isDuplicate;
  }

  get hasNode(): boolean {
    return this.#hasNode;
  }

  /** The capacity less the ledger, less what is held. Below zero if the capacity fell. */
  get freeBytes(): number {
    return this.place.freeBytes;
  }

  get isExcluded(): boolean {
    return this.place.isExcluded;
  }

  get capacityBytes(): number {
    return this.#record.capacityBytes;
  }

  /** Names in the ledger, and names of held volumes. Another set after every change. */
  get volumeNames(): ReadonlySet<string> {
    return this.#volumeNames;
  }

  hasEntry(volume: string): boolean {
    return this.#entries.has(volume);
  }

  /** Whether it has, or is about to get, a volume of the group. */
  hasGroup(group: string): boolean {
    if (this.#record.volumes.some(({ spreadGroup }) => spreadGroup === group)) return true;
    for (const { spreadGroup } of this.#held.values()) if (spreadGroup === group) return true;
    return false;
  }

  isOfKind(kind: DriveKind): boolean {
    return isOfKind(this.#record, kind);
  }

  isIn(term: TopologyTerm): boolean {
    return isInTerm(this.#record, term);
  }

  /* The following change the place: only `DriveIndex` may call them. */

  replace(record: DriveRecord): void {
    const keys = isInSameLists(this.#record, record) ? this.place.keys : [...listKeys(record)];
    this.#read = record;
    this.#record = this.#counted();
    this.#entries = namesIn(record);
    this.#count(keys);
  }

  setDuplicate(isDuplicate: boolean): void {
    this.#isDuplicate = isDuplicate;
    this.#record = this.#counted();
    this.#count(this.place.keys);
  }

  setHasNode(hasNode: boolean): void {
    this.#hasNode = hasNode;
    this.#record = this.#counted();
    this.#count(this.place.keys);
  }

  hold(volume: string, held: DriveHold): void {
    this.#held.set(volume, held);
    this.#count(this.place.keys);
  }

  release(volume: string): void {
    this.#held.delete(volume);
    this.#count(this.place.keys);
  }

  #counted(): DriveRecord {
    const exclusion = exclusionAmong(this.#read.exclusion, this);
    return exclusion === this.#read.exclusion ? this.#read : { ...this.#read, exclusion };
  }

  #count(keys: readonly string[]): void {
    this.#volumeNames = new Set([...this.#entries, ...this.#held.keys()]);
    this.place = this.#placeWith(keys);
  }

  #placeWith(keys: readonly string[]): Place {
    let freeBytes = this.#record.capacityBytes - promisedBytes(this.#record);
    for (const [volume, { bytes }] of this.#held) if (!this.#entries.has(volume)) freeBytes -= bytes;
    return { freeBytes, isExcluded: this.#record.exclusion !== undefined, keys };
  }
}

const noNames: ReadonlySet<string> = new Set();

function namesIn({ volumes }: DriveRecord): ReadonlySet<string> {
  return new Set(volumes.map(({ name }) => name));
}

const anyTier = '';

/** The keys of the lists that a drive is in. Neither tiers nor label keys contain a space. */
function* listKeys({ tier, topology, labels }: DriveRecord): Generator<string> {
  for (const one of [anyTier, tier]) {
    yield one;
    for (const key in topology) yield topologyKey(one, key, topology[key]!);
    for (const key in labels) yield labelKey(one, key, labels[key]!);
  }
}

/** Whether both have the same list keys: an update of a ledger changes none. */
function isInSameLists(a: DriveRecord, b: DriveRecord): boolean {
  return a.tier === b.tier && isSameMap(a.topology, b.topology) && isSameMap(a.labels, b.labels);
}

function isSameMap(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function topologyKey(tier: string, key: string, value: string): string {
  return `${tier} in ${key}=${value}`;
}

function labelKey(tier: string, key: string, value: string): string {
  return `${tier} with ${key}=${value}`;
}

function shortestOf(
  lists: ReadonlyMap<string, DriveList<IndexedDrive>>,
  { tier = anyTier, labels }: DriveKind,
  term: TopologyTerm,
): DriveList<IndexedDrive> {
  let shortest = lists.get(tier) ?? emptyList;
  const consider = (key: string): void => {
    const list = lists.get(key) ?? emptyList;
    if (list.length < shortest.length) shortest = list;
  };
  // The list of a node also has its drives that have not reported the other segments.
  const keys = term[driveNodeKey] === undefined ? Object.keys(term) : [driveNodeKey];
  for (const key of keys) consider(topologyKey(tier, key, term[key]!));
  for (const key in labels) consider(labelKey(tier, key, labels[key]!));
  return shortest;
}

const emptyList = new DriveList<IndexedDrive>();

function listOf(lists: Map<string, DriveList<IndexedDrive>>, key: string): DriveList<IndexedDrive> {
  const found = lists.get(key);
  if (found !== undefined) return found;
  const created = new DriveList<IndexedDrive>();
  lists.set(key, created);
  return created;
}

function drivesIn(byVolume: Map<string, Set<string>>, volume: string): Set<string> {
  const found = byVolume.get(volume);
  if (found !== undefined) return found;
  const created = new Set<string>();
  byVolume.set(volume, created);
  return created;
}
