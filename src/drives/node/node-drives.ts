import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { isOlderVersion } from '../../engine/cluster-index/resource-versions.ts';
import { DriveIndex } from '../../engine/drives/drive-index.ts';
import { type DriveRecord, readDrive } from '../../engine/drives/drive-record.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { type Drive, type DriveVolume, drives } from '../../kube/stowage/drive.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { Random } from '../../runtime/random.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { apiFailure } from '../controller/api-failure.ts';

/** How often a write is decided again after another client changed the drive; then the caller repeats its call. */
const attemptsMax = 8;

export interface NodeDrivesOptions {
  readonly cluster: Cluster;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** A drive of this node, in its newest known version. */
export interface NodeDrive {
  readonly drive: Drive;
  readonly record: DriveRecord;
}

/** A volume in the ledger of a drive of this node. */
export interface NodeVolume extends NodeDrive {
  readonly entry: DriveVolume;
}

/**
 * The drives of one node: a cache that follows the API server, and versioned writes. Writes of this process to one drive wait for each other;
 * a write is never abandoned, so that the cache learns its outcome.
 */
export class NodeDrives {
  /** For choices; it contains this node's drives only. */
  readonly index = new DriveIndex();
  readonly #drives = new Map<string, NodeDrive>();
  readonly #options: NodeDrivesOptions;
  readonly #client: ResourceClient<Drive>;
  readonly #informer: Informer<Drive>;
  readonly #queue = new KeyedQueue();
  readonly #listeners = new Set<DriveListener>();
  /** For each request that has no response yet: the uids of the drives that were deleted since it was sent. */
  readonly #deletedMeanwhile = new Set<Set<string>>();

  constructor(options: NodeDrivesOptions) {
    const { nodeName, supervisor, ...rest } = options;
    this.#options = options;
    this.#client = options.cluster.resource(drives);
    const selection = { fieldSelector: `spec.nodeName=${nodeName}` };
    this.#informer = new Informer({ ...rest, resource: drives, selection, purpose: `of node ${nodeName}` });
    this.#informer.addHandler({
      added: (drive) => this.#learn(drive),
      updated: (drive) => this.#learn(drive),
      deleted: (drive) => this.#forget(drive),
    });
    this.#informer.start(supervisor);
  }

  /** Resolves when all drives are known; false if `signal` aborted before. */
  synced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.synced(signal);
  }

  /** `listener` is called after each change, with the drive before and after it. */
  onChange(listener: DriveListener): void {
    this.#listeners.add(listener);
  }

  get names(): readonly string[] {
    return [...this.#drives.keys()];
  }

  get(name: string): NodeDrive | undefined {
    return this.#drives.get(name);
  }

  /** Uses the newest known state. If two ledgers have the name, the drive that the PersistentVolume names counts. */
  find(volume: string, named?: string): NodeVolume | undefined {
    const names = this.index.drivesOf(volume);
    const held = this.#drives.get(named !== undefined && names.includes(named) ? named : (names[0] ?? ''));
    const entry = held?.record.volumes.find(({ name }) => name === volume);
    return held === undefined || entry === undefined ? undefined : { ...held, entry };
  }

  /** An entry of the volume that is Releasing, on whichever drive. */
  findReleasing(volume: string): NodeVolume | undefined {
    for (const name of this.index.drivesOf(volume)) {
      const found = this.find(volume, name);
      if (found?.entry.state === 'Releasing') return found;
    }
    return undefined;
  }

  /**
   * The other Drives of this node that name the filesystem of a drive. Their ledgers are about the same directories.
   */
  sharing(name: string): readonly NodeDrive[] {
    return this.index.sharing(name).flatMap((other) => this.#drives.get(other.name) ?? []);
  }

  /** The name of the Drive that the filesystem of this drive belongs to, if it is another one. */
  ownerOf(name: string): string | undefined {
    return this.index.ownerOf(name)?.name;
  }

  /** Asks the API server if the volume is not known: a new entry may not have been delivered yet. */
  async findFresh(volume: string, named: string | undefined): Promise<NodeVolume | undefined> {
    const known = this.find(volume, named);
    if (known !== undefined) return known;
    await this.refresh(named);
    return this.find(volume, named);
  }

  /** Reads one drive, or all of this node, from the API server, and returns them. */
  async refresh(name: string | undefined): Promise<readonly Drive[]> {
    const known = name === undefined ? [...this.#drives.values()] : [this.#drives.get(name)];
    try {
      const found = await this.#learnFrom(name === undefined ? this.#list() : this.#find(name));
      // Drives that were in the cache before the request and are not in the response are deleted: a uid is never used again.
      const uids = new Set(found.map(({ metadata }) => metadata?.uid));
      for (const held of known) if (held && !uids.has(held.record.uid)) this.#forget(held.drive);
      return found;
    } catch (error) {
      throw apiFailure(error);
    }
  }

  /** The response may be older than the versions that the informer delivers meanwhile. */
  async #learnFrom(response: Promise<readonly Drive[]>): Promise<readonly Drive[]> {
    const deleted = new Set<string>();
    this.#deletedMeanwhile.add(deleted);
    try {
      const found = await response;
      for (const drive of found) if (!deleted.has(drive.metadata?.uid ?? '')) this.#learn(drive);
      return found;
    } finally {
      this.#deletedMeanwhile.delete(deleted);
    }
  }

  async #list(): Promise<readonly Drive[]> {
    const { nodeName } = this.#options;
    return (await this.#client.list({ fieldSelector: `spec.nodeName=${nodeName}` })).items;
  }

  async #find(name: string): Promise<readonly Drive[]> {
    try {
      return [await this.#client.get({ name })];
    } catch (error) {
      if (isReason(error, 'NotFound')) return [];
      throw error;
    }
  }

  /**
   * `decide` sees the newest version, again after each conflict, and returns what to write, or undefined. Returns false if there is no such
   * drive. Rejects with `CsiStatusError`.
   */
  write(
    name: string,
    decide: (drive: NodeDrive) => Patch | undefined,
    subresource?: 'status',
  ): Promise<boolean> {
    return this.#queue.run(name, async () => {
      for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
        const held = this.#drives.get(name);
        if (held === undefined) return false;
        const patch = decide(held);
        if (patch === undefined || (await this.#patch(held, patch, subresource))) return true;
      }
      throw new CsiStatusError('Aborted', `drive ${name} keeps changing; repeat the call`);
    });
  }

  /** False if the drive is not as it was; its current state is known then. */
  async #patch({ record }: NodeDrive, patch: Patch, subresource: 'status' | undefined): Promise<boolean> {
    const { name } = record;
    try {
      const options = subresource === undefined ? {} : { subresource };
      await this.#learnFrom(this.#client.patch({ name }, patch, options).then((drive) => [drive]));
      return true;
    } catch (error) {
      if (!isReason(error, 'Conflict', 'Invalid', 'NotFound')) throw apiFailure(error);
      await this.refresh(name);
      if (isReason(error, 'Invalid') && this.#drives.get(name)?.record.version === record.version)
        throw new CsiStatusError('Internal', `drive ${name}: ${error.message}`, { cause: error });
      return false;
    }
  }

  /** Deletes this version of a drive; another version stays. */
  async delete({ record: { name, uid, version } }: NodeDrive): Promise<void> {
    try {
      await this.#client.delete({ name }, { preconditions: { uid, resourceVersion: version } });
    } catch (error) {
      if (!isReason(error, 'Conflict', 'NotFound')) throw apiFailure(error);
    }
  }

  #learn(drive: Drive): void {
    const record = readDrive(drive);
    if (record.nodeName !== this.#options.nodeName) return;
    const before = this.#drives.get(record.name);
    const isSameObject = before?.record.uid === record.uid;
    if (isSameObject && before?.record.version === record.version) return;
    if (isSameObject && isOlderVersion(record.version, before?.record.version ?? '')) return;
    const after = { drive, record };
    this.#drives.set(record.name, after);
    this.index.set(record);
    for (const listener of this.#listeners) listener(record.name, after, before);
  }

  #forget(drive: Drive): void {
    const { name = '', uid } = drive.metadata ?? {};
    for (const deleted of this.#deletedMeanwhile) deleted.add(uid ?? '');
    const before = this.#drives.get(name);
    if (before === undefined || before.record.uid !== uid) return;
    this.#drives.delete(name);
    this.index.delete(name);
    for (const listener of this.#listeners) listener(name, undefined, before);
  }
}

type DriveListener = (name: string, after: NodeDrive | undefined, before: NodeDrive | undefined) => void;
