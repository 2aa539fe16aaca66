import { Semaphore } from '../../../runtime/semaphore.ts';
import type { AgentParts } from '../agent-parts.ts';
import { CopyTasks } from '../copy-tasks.ts';
import type { DataFolder } from '../files/data-folder.ts';
import { type DataIdentity, hasContentsOf, withContents } from '../files/data-identity.ts';
import { contentsOf } from '../files/hash-data.ts';
import type { DataFile, FileStamp } from '../files/host-files.ts';

/** The data of one replica. */
export interface ReplicaData {
  readonly name: string;
  readonly uid: string;
  readonly volumeName: string;
  readonly folder: DataFolder;
  readonly diskUUID: string;
}

interface Damage {
  readonly uid: string;
  readonly stamp: FileStamp;
  readonly message: string;
}

export interface ReplicaChecksumsOptions {
  readonly context: Pick<AgentParts['context'], 'report'>;
  /** Called when the data of a replica turned out to be damaged. */
  readonly onDamage: (name: string) => void;
}

/**
 * The checksums of the contents of replicas. The data of a replica changes while it is in use, so its identity records the checksum together with
 * the length and the time of the last modification. With another length or time it is out of date, and is taken again when the replica is at
 * rest: when it is found, started, stopped or lengthened. Otherwise nothing has written to the file, and data with another checksum is damaged.
 *
 * A crash at any point is safe. To take a checksum, the file gets a stamp that no later write leaves as it is, and is synced; it is read; and only if it
 * has the same stamp afterwards, the identity is replaced, as a whole. Until then what is recorded belongs to another stamp, and is out of
 * date; from then on it belongs to exactly the bytes that were read, which are on the disk for certain.
 *
 * Files are read in the background, one of each disk at a time, and not again while they keep their stamp.
 */
export class ReplicaChecksums {
  readonly #options: ReplicaChecksumsOptions;
  readonly #tasks = new CopyTasks();
  readonly #turns = new Map<string, Semaphore>();
  readonly #identities = new Semaphore(1);
  /** The data that this process has checked, by the name of the replica: its uid, and the stamp that the data had. */
  readonly #known = new Map<string, string>();
  readonly #damages = new Map<string, Damage>();
  /** Files that are checked once more after the check that is running. */
  readonly #again = new Map<string, ReplicaData>();

  constructor(options: ReplicaChecksumsOptions) {
    this.#options = options;
  }

  /** Nothing is being read, and nothing waits for its turn. */
  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /** The replica is at rest: its checksum is compared, or taken if it is out of date. Does not wait for it. */
  look(data: ReplicaData): void {
    if (this.#tasks.has(data.name)) this.#again.set(data.name, data);
    else this.#tasks.start(data.name, (signal) => this.#run(data, signal));
  }

  /** This process has just made the data, and recorded its checksum. */
  trust({ name, uid }: Pick<ReplicaData, 'name' | 'uid'>, stamp: FileStamp): void {
    this.#known.set(name, keyOf(uid, stamp));
  }

  /** Whether this process has checked the data of the replica, whatever its stamp is now. */
  hasLooked({ name, uid }: Pick<ReplicaData, 'name' | 'uid'>): boolean {
    return this.#known.get(name)?.startsWith(`${uid} `) === true;
  }

  /** The known damage of the data that has this stamp; undefined if there is none. */
  damageOf({ name, uid }: Pick<ReplicaData, 'name' | 'uid'>, stamp: FileStamp): string | undefined {
    const damage = this.#damages.get(name);
    if (damage === undefined) return undefined;
    if (damage.uid === uid && isSame(damage.stamp, stamp)) return damage.message;
    this.#damages.delete(name);
    return undefined;
  }

  /** Changes the identity of data that is there; one change at a time, so that none is lost. */
  async update(
    { folder, uid }: Pick<ReplicaData, 'folder' | 'uid'>,
    change: (identity: DataIdentity) => DataIdentity,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#identities.run(signal, async () => {
      const state = await folder.inspect();
      if (state.kind === 'known' && state.identity.uid === uid) await folder.identify(change(state.identity));
    });
  }

  /** The disk does not answer: its files are checked again when it does. */
  distrust(name: string): void {
    this.#known.delete(name);
  }

  /** Before the data is removed. Resolves when nothing reads it any more, and nothing will write its identity. */
  async forget(name: string): Promise<void> {
    this.#again.delete(name);
    await this.#tasks.stop(name);
    this.#damages.delete(name);
    this.#known.delete(name);
  }

  async close(): Promise<void> {
    this.#again.clear();
    await this.#tasks.close();
  }

  /** Never throws. */
  async #run(data: ReplicaData, signal: AbortSignal): Promise<void> {
    for (let next: ReplicaData | undefined = data; next !== undefined && !signal.aborted; ) {
      try {
        await this.#look(next, signal);
      } catch (error) {
        if (!signal.aborted)
          this.#options.context.report({ controller: 'disk-agent', key: data.name, error });
      }
      next = this.#again.get(data.name);
      this.#again.delete(data.name);
    }
  }

  async #look(data: ReplicaData, signal: AbortSignal): Promise<void> {
    const { name, folder, uid } = data;
    await this.#turnOf(data.diskUUID).run(signal, async () => {
      const state = await folder.inspect();
      if (state.kind !== 'known' || state.identity.uid !== uid) return;
      const { identity, dataBytes: bytes, modifiedNs } = state;
      if (bytes === undefined || modifiedNs === undefined) return;
      const stamp = { bytes, modifiedNs };
      if (hasContentsOf(identity, stamp) && this.#known.get(name) === keyOf(uid, stamp)) return;
      const file = await folder.openData();
      try {
        if (hasContentsOf(identity, stamp)) await this.#compare(data, file, { identity, stamp }, signal);
        else await this.#take(data, file, signal);
      } finally {
        await file.close();
      }
    });
  }

  /** Nothing has written to the file since the checksum was taken. */
  async #compare(
    { name, uid, volumeName }: ReplicaData,
    file: DataFile,
    { identity, stamp }: { readonly identity: DataIdentity; readonly stamp: FileStamp },
    signal: AbortSignal,
  ): Promise<void> {
    const found = await contentsOf(file, await file.facts(), signal);
    // Written to meanwhile: the checksum is out of date.
    if (!isSame(await file.facts(), stamp)) return;
    this.#known.set(name, keyOf(uid, stamp));
    if (found === identity.contentsSHA512) return;
    const message = `${file.path} is damaged: the checksum of its contents is ${found}, and ${identity.contentsSHA512} was recorded; nothing has written to the file since. Check the disk. If another replica of Volume ${volumeName} is healthy, delete Replica ${name}, and its data is copied again; to keep the data as it is, touch the file`;
    this.#damages.set(name, { uid, stamp, message });
    this.#options.onDamage(name);
  }

  async #take(data: ReplicaData, file: DataFile, signal: AbortSignal): Promise<void> {
    const { name, uid } = data;
    const stamp = await file.mark();
    const contents = await contentsOf(file, await file.facts(), signal);
    this.#known.set(name, keyOf(uid, stamp));
    // The replica is in use: the checksum is computed when it is stopped.
    if (!isSame(await file.facts(), stamp)) return;
    await this.update(data, (identity) => withContents(identity, contents, stamp), signal);
  }

  #turnOf(diskUUID: string): Semaphore {
    const known = this.#turns.get(diskUUID) ?? new Semaphore(1);
    this.#turns.set(diskUUID, known);
    return known;
  }
}

function keyOf(uid: string, { bytes, modifiedNs }: FileStamp): string {
  return `${uid} ${bytes} ${modifiedNs}`;
}

function isSame(a: FileStamp, b: FileStamp): boolean {
  return a.bytes === b.bytes && a.modifiedNs === b.modifiedNs;
}
