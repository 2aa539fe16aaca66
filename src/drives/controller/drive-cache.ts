import type { Cluster, Projected } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { isOlderVersion } from '../../engine/cluster-index/resource-versions.ts';
import { DriveIndex } from '../../engine/drives/drive-index.ts';
import { type DriveRecord, readDrive } from '../../engine/drives/drive-record.ts';
import type { Node } from '../../kube/api/core.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { BackgroundWork, Supervisor } from '../../runtime/supervisor.ts';
import { type CapacityListener, CapacityReports } from './capacity-reports.ts';
import { type Holders, VolumeHolders } from './volume-holders.ts';

export interface DriveCacheOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
  /** Nodes of the cluster; the owner starts and stops it. Without it, or until it has read them, the nodes of all drives count as existing. */
  readonly nodes?: Informer<Node> | undefined;
}

/** A process without the permission to read Nodes answers calls after this time. */
const nodesMsMax = 5_000;

/**
 * Two views of all drives:
 *
 * - `index` has the newest known version of each drive, from the watch or from an answer of the API server. Choices use it.
 * - `holders` has the versions from the watch, in its order. It decides which of two entries with one name was first.
 *
 * It follows the cluster until `stop`: a process that leads again needs another one.
 */
export class DriveCache {
  readonly index: DriveIndex;
  readonly #informer: Informer<Drive>;
  readonly #holders = new VolumeHolders();
  /** Called when the watch has delivered a change of the drive. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #capacity = new CapacityReports();
  readonly #work: BackgroundWork;
  readonly #clock: Clock;
  readonly #nodes: Informer<Node> | undefined;
  readonly #stopFollowingNodes: () => void;
  #isStopped = false;

  constructor({ supervisor, nodes, ...options }: DriveCacheOptions) {
    this.#clock = options.clock;
    this.#nodes = nodes;
    this.index = new DriveIndex(nodeExistence(nodes));
    this.#stopFollowingNodes = this.#followNodes();
    this.#informer = new Informer({ ...options, resource: drives, purpose: 'of the drives controller' });
    this.#informer.addHandler({
      added: (drive) => this.#deliver(drive, undefined),
      updated: (drive, old) => this.#deliver(drive, old),
      deleted: (drive) => this.#remove(drive),
    });
    this.#work = this.#informer.start(supervisor);
  }

  /** Ends the watch. Calls that wait for it are rejected with Aborted. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopFollowingNodes();
    for (const name of [...this.#waiting.keys()]) this.#wake(name);
    await this.#work.stop();
  }

  /** Resolves when all drives are known, and nodes if they can be read; false if `signal` aborted before. */
  async synced(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#informer.synced(signal))) return false;
    await this.#nodesSynced(signal);
    for (const name of this.index.nodeNames) this.#nodeChanged(name);
    return !signal.aborted;
  }

  async #nodesSynced(signal: AbortSignal): Promise<void> {
    if (this.#nodes === undefined || this.#nodes.hasSynced) return;
    const waiting = new AbortController();
    const stopListening = onAbort(signal, () => waiting.abort());
    await Promise.race([this.#nodes.synced(waiting.signal), this.#clock.sleep(nodesMsMax, waiting.signal)]);
    waiting.abort();
    stopListening();
  }

  #followNodes(): () => void {
    const changed = ({ metadata }: Projected<Node>) => this.#nodeChanged(metadata?.name ?? '');
    return this.#nodes?.addHandler({ added: changed, deleted: changed }) ?? (() => {});
  }

  #nodeChanged(name: string): void {
    const before = new Map(this.index.drivesOn(name).map(({ record }) => [record.name, record]));
    for (const { record } of this.index.nodeChanged(name))
      this.#capacity.changed(before.get(record.name), record);
  }

  get hasSynced(): boolean {
    return this.#informer.hasSynced;
  }

  /** Whether all drives are being listed again: until that has ended, the order of entries is unknown. */
  get isListing(): boolean {
    return this.#informer.status().resourceVersion === undefined;
  }

  /** The drives that the watch has delivered. */
  get drives(): readonly Drive[] {
    return [...this.#informer.values()] as Drive[];
  }

  holders(volume: string): Holders {
    return this.#holders.of(volume);
  }

  /**
   * `listener` is called when a drive has other free bytes or takes other volumes than before, with the segments that reach it. Entries
   * that this process has written are left out: callers learn of them with the answer. Returns how to stop that.
   */
  onCapacityChange(listener: CapacityListener): () => void {
    return this.#capacity.onChange(listener);
  }

  /** `listener` is called for each drive that is known, then for each state that the watch delivers. Returns how to stop that. */
  onDriveChange(listener: (after: Drive, before: Drive | undefined) => void): () => void {
    return this.#informer.addHandler({
      added: (drive) => listener(drive, undefined),
      updated: listener,
    });
  }

  /** Stores the version that the API server returned for a write of this process, unless a newer one is known. */
  learnWritten(drive: Drive): void {
    const record = readDrive(drive);
    if (isNews(record, this.index.get(record.name)?.record)) this.index.set(record);
  }

  /** Takes in a state of the drive, unless a newer version is known. */
  learn(drive: Drive): void {
    const record = readDrive(drive);
    const known = this.index.get(record.name)?.record;
    if (!isNews(record, known)) return;
    this.index.set(record);
    this.#capacity.changed(known, this.index.get(record.name)?.record);
  }

  /** The drive does not exist any more. */
  forget(name: string, uid: string): void {
    const known = this.index.get(name)?.record;
    if (known?.uid !== uid) return;
    this.index.delete(name);
    this.#capacity.changed(known, undefined);
  }

  /**
   * Resolves when the watch has delivered this version of the drive, or a later one, or its deletion. False if it may have come from a list,
   * so that its place in the order of changes is unknown. Rejects when `signal` aborts.
   */
  async delivered(name: string, version: string, signal: AbortSignal): Promise<boolean> {
    if (this.#hasDelivered(name, version)) return !this.isListing;
    const { lists } = this.#informer.status();
    do await this.#nextDelivery(name, signal);
    while (!this.#hasDelivered(name, version));
    const now = this.#informer.status();
    return now.resourceVersion !== undefined && now.lists === lists;
  }

  #hasDelivered(name: string, version: string): boolean {
    const delivered = this.#informer.get(name);
    if (delivered === undefined) return this.index.get(name) === undefined;
    return !isOlderVersion(delivered.metadata?.resourceVersion ?? '', version);
  }

  async #nextDelivery(name: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isStopped) throw gaveUp(name);
    await new Promise<void>((resolve, reject) => {
      const waiting = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, waiting);
      const finish = () => {
        waiting.delete(finish);
        if (waiting.size === 0) this.#waiting.delete(name);
        stopListening();
        if (signal.aborted || this.#isStopped) reject(gaveUp(name));
        else resolve();
      };
      const stopListening = onAbort(signal, finish);
      waiting.add(finish);
    });
  }

  #deliver(drive: Drive, old: Drive | undefined): void {
    const name = drive.metadata?.name ?? '';
    this.learn(drive);
    this.#holders.update(name, volumeNames(old), volumeNames(drive), () => !this.isListing);
    this.#wake(name);
  }

  #remove(drive: Drive): void {
    const { name = '', uid = '' } = drive.metadata ?? {};
    this.forget(name, uid);
    this.#holders.update(name, volumeNames(drive), new Set(), () => true);
    this.#wake(name);
  }

  #wake(name: string): void {
    for (const finish of [...(this.#waiting.get(name) ?? [])]) finish();
  }
}

/** Whether a Node exists, by a cache; true while that is not known. */
export function nodeExistence(nodes: Informer<Node> | undefined): (name: string) => boolean {
  return (name) => nodes?.hasSynced !== true || nodes.get(name) !== undefined;
}

function isNews(record: DriveRecord, known: DriveRecord | undefined): boolean {
  if (known?.uid !== record.uid) return true;
  return known.version !== record.version && !isOlderVersion(record.version, known.version);
}

function gaveUp(drive: string): CsiStatusError {
  return new CsiStatusError('Aborted', `the call ended before drive ${drive} was confirmed; repeat it`);
}

function volumeNames(drive: Drive | undefined): ReadonlySet<string> {
  return new Set((drive?.spec?.volumes ?? []).map(({ name }) => name));
}
