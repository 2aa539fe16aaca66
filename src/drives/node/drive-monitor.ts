import { WorkQueue } from '../../reconcile/work-queue.ts';
import { type Requeue, runWorkers } from '../../reconcile/workers.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { DirectoryComparison } from './directory-comparison.ts';
import { type DriveMounts, duplicateOf } from './drive-mounts.ts';
import { type DriveReport, type SeenDrive, statusPatch } from './drive-status.ts';
import type { NodeDrive, NodeDrives } from './node-drives.ts';
import type { NodeTopology } from './node-topology.ts';
import type { VolumeUsage } from './volume-usage.ts';

/** The number of drives that are checked in parallel: a drive that does not respond must not delay the others. */
const workers = 4;
/** The kernel reports no lost device to this process, so the monitor polls each drive. */
const resyncMs = 30_000;
/** Ledgers change often, and of them the status has one figure for display: changes of this time become one write. */
const ledgerDelayMs = 1_000;

export interface DriveMonitorOptions {
  readonly drives: NodeDrives;
  readonly mounts: DriveMounts;
  readonly topology: NodeTopology;
  readonly usage: VolumeUsage;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

/**
 * Mounts the drives of this node, and writes their status: at the start, when a Drive or a topology label of the Node changes, and every half minute. Level-based: each pass
 * starts from what the kernel and the newest Drive say, and its one write carries the version; the process may end anywhere.
 */
export class DriveMonitor {
  readonly #options: DriveMonitorOptions;
  readonly #queue: WorkQueue;
  /** Drives that have not been checked since the start. */
  readonly #pending = new Set<string>();
  /** Drives whose objects have been deleted, and that may still be mounted. */
  readonly #gone = new Map<string, NodeDrive>();
  readonly #directories = new DirectoryComparison();
  #onStarted: () => void = () => {};

  constructor(options: DriveMonitorOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, retryBaseMs: 100, retryMaxMs: resyncMs });
    options.drives.onChange((name, after, before) => {
      if (after === undefined && before !== undefined) this.#gone.set(name, before);
      if (before !== undefined && after !== undefined && onlyLedgerChanged(after, before))
        this.#queue.addAfter(name, ledgerDelayMs);
      else this.#queue.add(name);
      // Which of several Drives its filesystem belongs to may have changed.
      if (before?.record.uid !== after?.record.uid) this.#wakeSharing(before ?? after);
    });
    options.topology.onChange(() => {
      for (const name of options.drives.names) this.#queue.add(name);
    });
  }

  /** Starts the loop. Resolves when each drive that is known now has been checked and its status written, or when `signal` aborts. */
  async start(signal: AbortSignal): Promise<void> {
    const { drives, supervisor, log } = this.#options;
    for (const name of drives.names) this.#pending.add(name);
    for (const name of drives.names) this.#queue.add(name);
    supervisor.start('drive status', (running) =>
      runWorkers(this.#queue, (name) => this.#reconcile(name), {
        workers,
        signal: running,
        onError: (error, name) => log.warn(`drive ${name}`, { error }),
      }),
    );
    if (this.#pending.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const finish = () => {
        stopListening();
        resolve();
      };
      const stopListening = onAbort(signal, finish);
      this.#onStarted = finish;
    });
  }

  /** Looks at a drive again now, after a call found it in another state than its status says. */
  wake(name: string): void {
    this.#queue.add(name);
  }

  #wakeSharing(changed: NodeDrive | undefined): void {
    const { drives } = this.#options;
    for (const name of drives.names)
      if (drives.get(name)?.record.filesystem === changed?.record.filesystem) this.#queue.add(name);
  }

  async #reconcile(name: string): Promise<Requeue | undefined> {
    const { drives, log } = this.#options;
    const held = drives.get(name);
    if (held === undefined) return await this.#forget(name);
    const report = await this.#look(held);
    const before = held.drive.status?.state;
    await drives.write(name, (now) => statusPatch(now, report, this.#seen(now, report)), 'status');
    const after = drives.get(name);
    if (after?.drive.status?.state !== before)
      log.info(`drive ${name} is ${after?.drive.status?.state ?? 'gone'}`);
    this.#settle(name);
    if (after !== undefined)
      await this.#options.usage.measure(after, report.kind === 'mounted' ? report.path : undefined);
    if (after !== undefined) await this.#removeIfDone(after);
    return { afterMs: resyncMs };
  }

  /** Unmounts a drive without object, unless another Drive names its filesystem, or volumes on it are in use: those stay until the node restarts. */
  async #forget(name: string): Promise<undefined> {
    this.#settle(name);
    const gone = this.#gone.get(name);
    const uuid = gone?.drive.spec?.filesystemUUID;
    const isNamed = this.#options.drives.names.some(
      (other) => this.#options.drives.get(other)?.record.filesystem === gone?.record.filesystem,
    );
    if (uuid !== undefined && !isNamed) await this.#options.mounts.unmount(uuid);
    this.#gone.delete(name);
    this.#directories.forget(name);
    this.#options.usage.forget(name);
  }

  #seen({ drive, record }: NodeDrive, report: DriveReport): SeenDrive {
    const nowMs = this.#options.clock.nowMs();
    const topology = this.#options.topology.segments;
    if (report.kind !== 'mounted') return { nowMs, strays: undefined, topology };
    const others = this.#options.drives.sharing(record.name).flatMap((other) => other.record.volumes);
    const held = new Set(others.map(({ name }) => name));
    const directories = report.directories.filter((name) => !held.has(name));
    const strays = this.#directories.strays(drive, directories, nowMs);
    return { nowMs, strays, topology };
  }

  async #look({ drive, record }: NodeDrive): Promise<DriveReport> {
    const uuid = drive.spec?.filesystemUUID ?? '';
    const { mounts, drives } = this.#options;
    const owner = drives.ownerOf(record.name);
    if (owner !== undefined) return duplicateOf(owner);
    if (drive.status?.state === 'Repairing')
      return (await mounts.unmount(uuid)) ? { kind: 'unmounted', reason: 'Repairing' } : { kind: 'inUse' };
    // A drive that goes is not mounted once more after its last volume.
    const isGoing = drive.status?.state === 'Removing' && record.volumes.length === 0;
    if (isGoing && (await mounts.unmount(uuid))) return { kind: 'unmounted', reason: 'Removing' };
    return await mounts.ensure(uuid);
  }

  /** The state Removing asks for it. A volume that was put on the drive meanwhile has changed its version, and the Drive stays. */
  async #removeIfDone(held: NodeDrive): Promise<void> {
    const { drive, record } = held;
    if (drive.status?.state !== 'Removing' || record.volumes.length > 0) return;
    if (drive.metadata?.deletionTimestamp === undefined) await this.#options.drives.delete(held);
  }

  #settle(name: string): void {
    if (this.#pending.delete(name) && this.#pending.size === 0) this.#onStarted();
  }
}

function onlyLedgerChanged(after: NodeDrive, before: NodeDrive): boolean {
  return (
    after.record.uid === before.record.uid &&
    after.drive.status?.state === before.drive.status?.state &&
    after.drive.status?.state !== 'Removing' &&
    after.drive.spec?.unschedulable === before.drive.spec?.unschedulable
  );
}
