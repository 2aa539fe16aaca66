import { type DriveKind, driveKindKey, isOfKind } from '../../drives/drive-requirements.ts';
import { ownerOfFilesystem } from '../../drives/shared-filesystems.ts';
import { addTo, removeFrom } from '../../maps.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { DriveGroups } from './drive-groups.ts';
import { PoolEntry, type PoolRow } from './pool-entry.ts';

/** Drives by the kind that a class selects: access tier and labels. Entries are computed on first use, and kept until a drive is added, removed or changes its kind. */
export class DriveEntries {
  readonly #drives = new Map<string, { readonly row: PoolRow; readonly record: PoolRecord }>();
  readonly #byKind = new Map<string, PoolEntry>();
  /** The drive that has the volume of a claim in its ledger, by the uid of the claim. */
  readonly #byClaim = new Map<string, string>();
  /** The drives that have inline volumes of a pod in their ledgers, by the uid of the pod. */
  readonly #byPod = new Map<string, Set<string>>();
  /** The keys of the pools of each node's Drives, by the name of the node. */
  readonly #byNode = new Map<string, Set<string>>();
  /** The pools of the Drives that name one filesystem. */
  readonly #byFilesystem = new Map<string, Map<string, PoolRecord>>();
  /** Groups in the ledgers, and those of promises, which the owner of the table adds. */
  readonly groups = new DriveGroups();

  get isEmpty(): boolean {
    return this.#drives.size === 0;
  }

  add(row: PoolRow, record: PoolRecord): void {
    this.#drives.set(record.key, { row, record });
    this.#byKind.clear();
    this.#addVolumes(record);
    this.#setUser(record);
    addTo(this.#byNode, record.drive!.nodeName, record.key);
  }

  delete(record: PoolRecord): void {
    this.#drives.delete(record.key);
    this.#byKind.clear();
    this.#removeVolumes(record);
    this.#removeUser(record);
    removeFrom(this.#byNode, record.drive!.nodeName, record.key);
  }

  /** The same drive with another capacity. */
  replace(before: PoolRecord, after: PoolRecord): void {
    this.#removeVolumes(before);
    this.#addVolumes(after);
    this.#removeUser(before);
    this.#setUser(after);
    removeFrom(this.#byNode, before.drive!.nodeName, before.key);
    addTo(this.#byNode, after.drive!.nodeName, after.key);
  }

  /** The keys of the pools of a node's Drives. */
  ofNode(name: string): Iterable<string> {
    return this.#byNode.get(name) ?? [];
  }

  /** The pools of all Drives that name the filesystem. */
  onFilesystem(filesystem: string): readonly PoolRecord[] {
    return [...(this.#byFilesystem.get(filesystem)?.values() ?? [])];
  }

  /** Whether the filesystem belongs to another Drive. */
  isDuplicate({ key, drive }: PoolRecord): boolean {
    const users = this.#byFilesystem.get(drive!.user.filesystem);
    if (users === undefined || users.size === 1) return false;
    const owner = ownerOfFilesystem([...users.values()].map((record) => record.drive!.user));
    return users.get(key)?.drive?.user !== owner;
  }

  /** The key of the pool that the volume of the claim is in. */
  poolOfClaim(claimUid: string): string | undefined {
    return this.#byClaim.get(claimUid);
  }

  /** The keys of the pools that have inline volumes of the pod. */
  poolsOfPod(podUid: string): Iterable<string> {
    return this.#byPod.get(podUid) ?? [];
  }

  /** The drives of a kind, sorted by the keys of their pools. `version` differs after each drive that came, went or changed its kind. */
  entryOf(kind: DriveKind, version: number): PoolEntry {
    const key = `drives ${driveKindKey(kind)}`;
    let entry = this.#byKind.get(key);
    if (entry === undefined) {
      const drives = [...this.#drives.values()].filter(({ record }) => isOfKind(record.drive!, kind));
      drives.sort((a, b) => (a.record.key < b.record.key ? -1 : 1));
      entry = new PoolEntry(
        key,
        version,
        drives.map(({ row }) => row),
      );
      this.#byKind.set(key, entry);
    }
    return entry;
  }

  #setUser(record: PoolRecord): void {
    const { filesystem } = record.drive!.user;
    if (filesystem === '') return;
    const users = this.#byFilesystem.get(filesystem) ?? new Map<string, PoolRecord>();
    this.#byFilesystem.set(filesystem, users.set(record.key, record));
  }

  #removeUser({ key, drive }: PoolRecord): void {
    const { filesystem } = drive!.user;
    const users = this.#byFilesystem.get(filesystem);
    users?.delete(key);
    if (users?.size === 0) this.#byFilesystem.delete(filesystem);
  }

  #addVolumes({ key, drive }: PoolRecord): void {
    for (const uid of drive!.claims.keys()) this.#byClaim.set(uid, key);
    for (const uid of drive!.pods.keys()) addTo(this.#byPod, uid, key);
    for (const group of drive!.groups) this.groups.add(group, key);
  }

  #removeVolumes({ key, drive }: PoolRecord): void {
    for (const uid of drive!.claims.keys()) if (this.#byClaim.get(uid) === key) this.#byClaim.delete(uid);
    for (const uid of drive!.pods.keys()) removeFrom(this.#byPod, uid, key);
    for (const group of drive!.groups) this.groups.remove(group, key);
  }
}
