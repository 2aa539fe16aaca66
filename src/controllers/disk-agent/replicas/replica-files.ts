import type { Projected } from '../../../cluster/cluster.ts';
import { fileSystemReason } from '../../../io/files/file-system-reason.ts';
import { ApiError, isReason } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { diskAgentFinalizer, type Replica, replicas } from '../../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { removeFinalizer } from '../../../reconcile/remove-finalizer.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { type AgentParts, dataFolderOn } from '../agent-parts.ts';
import { CopyFailures } from '../copy-failures.ts';
import { CopyTasks } from '../copy-tasks.ts';
import { dataFolderNames } from '../files/data-folder.ts';
import type { FileStamp } from '../files/host-files.ts';
import { givesUpDisk } from '../own-disks.ts';
import type { AgentDisk } from '../status/agent-disks.ts';
import { TransferError } from '../transfer/byte-source.ts';
import { findReplicaOrigin, makeReplica, type ReplicaPlace } from './make-replica.ts';
import { ReplicaChecksums, type ReplicaData } from './replica-checksums.ts';
import { type ReplicaReport, writeReplicaStatus } from './replica-status.ts';

const workers = 4;
/** A disk may be away for this long before its replicas have failed: a mount may follow the start of the agent. */
const awayMaxMs = 60_000;
/** When data could not be copied. */
const retryMs = 10_000;
const tasksMax = 8;
const busyMs = 1_000;
/** The polling interval for a damaged file: a user may have accepted its contents. */
const damagedPollMs = 60_000;

/** Makes, grows and removes the files of the replicas of this node. Keys are names of Replicas. */
export class ReplicaFiles {
  readonly #parts: AgentParts;
  readonly #queue: WorkQueue;
  readonly #tasks = new CopyTasks();
  readonly #failures: CopyFailures;
  readonly #checksums: ReplicaChecksums;
  /** When data that could not be copied is tried again, in monotonic time: what is reported of an attempt must not start the next one. */
  readonly #retryAtMs = new Map<string, number>();
  /** Since when the disk of a replica is away, in monotonic time. */
  readonly #awaySinceMs = new Map<string, number>();

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#queue = new WorkQueue(parts.context);
    this.#failures = new CopyFailures(parts.context);
    this.#checksums = new ReplicaChecksums({
      context: parts.context,
      onDamage: (name) => this.#queue.add(name),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { caches, context } = this.#parts;
    const loop = {
      controller: 'disk-agent',
      caches: Object.values(caches),
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: async (name: string) => {
        let requeue: Requeue | undefined;
        const stale = await retryIfStale(async () => {
          requeue = await this.#reconcile(name, signal);
        });
        return stale ?? requeue;
      },
      workers,
    };
    try {
      await runLoop(context, loop, signal);
    } finally {
      await Promise.all([this.#tasks.close(), this.#checksums.close()]);
    }
  }

  // ── Events ──

  #listen(): readonly (() => void)[] {
    const { caches, disks, nodeName } = this.#parts;
    const isOurs = ({ spec }: Pick<Replica, 'spec'>) => spec?.nodeID === nodeName;
    const add = ({ metadata }: Projected<Replica>) => this.#queue.add(metadata?.name ?? '');
    const waiting = () => {
      for (const replica of caches.replicas.values())
        if (isOurs(replica) && !isRunning(replica)) add(replica);
    };
    const all = () => {
      for (const replica of caches.replicas.values()) if (isOurs(replica)) add(replica);
    };
    return [
      caches.replicas.addHandler({
        added: (replica) => void (isOurs(replica) && add(replica)),
        updated: (replica, old) => {
          if (isOurs(replica) || isOurs(old)) add(replica);
          // A replica of this node may wait for the data of another one.
          else if (replica.status?.healthyAt !== old.status?.healthyAt) waiting();
        },
      }),
      caches.schedules.addHandler({
        updated: ({ spec }) => void (spec?.nodeID === nodeName && waiting()),
        added: ({ spec }) => void (spec?.nodeID === nodeName && waiting()),
      }),
      // A replica may wait for a copy of its image, and for the agent that has its data.
      caches.images.addHandler({ updated: waiting }),
      caches.nodes.addHandler({ updated: waiting }),
      disks.onChange(all),
      disks.onChange(() => this.#enqueueFolders()),
    ];
  }

  /** Folders of replicas that were moved elsewhere while this agent did not run. */
  #enqueueFolders(): void {
    const { disks, files, context } = this.#parts;
    for (const { path: diskPath } of disks.all)
      dataFolderNames(files, { diskPath, kind: 'Replica' }).then(
        (names) => {
          for (const name of names) this.#queue.add(name);
        },
        (error: unknown) => context.report({ controller: 'disk-agent', key: diskPath, error }),
      );
  }

  // ── One replica ──

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { context, disks, nodeName } = this.#parts;
    if (!disks.isProbed) return undefined;
    const client = context.cluster.resource(replicas);
    const replica = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (replica === undefined) {
      await Promise.all([this.#tasks.stop(name), this.#checksums.forget(name)]);
      this.#awaySinceMs.delete(name);
      this.#forgetFailure(name);
      return undefined;
    }
    if (replica.metadata?.deletionTimestamp !== undefined) return await this.#release(replica, signal);
    await this.#removeFrom(replica, (disk) => disk.uuid !== replica.spec?.diskID);
    if (replica.spec?.nodeID !== nodeName) return undefined;
    if (replica.spec.desiredState !== 'running') return await this.#stopped(replica);
    const disk = disks.ready(replica.spec.diskID);
    if (disk === undefined) return await this.#away(replica);
    this.#awaySinceMs.delete(name);
    return await this.#keep({ replica, disk }, signal);
  }

  async #stopped(replica: Replica): Promise<undefined> {
    const { currentState = 'stopped' } = replica.status ?? {};
    if (currentState === 'stopped') return undefined;
    await this.#report(replica, { currentState: 'stopped' });
    const disk = this.#parts.disks.ready(replica.spec?.diskID);
    if (disk !== undefined) this.#checksums.look(this.#dataOf({ replica, disk }));
    return undefined;
  }

  #dataOf({ replica, disk }: ReplicaPlace): ReplicaData {
    const { name = '', uid = '' } = replica.metadata ?? {};
    const folder = dataFolderOn(this.#parts, disk, { kind: 'Replica', name });
    return { name, uid, volumeName: replica.spec?.volumeName ?? '', folder, diskUUID: disk.uuid };
  }

  /** The replica is not deleted: its data may come back with the disk. */
  async #away(replica: Replica): Promise<Requeue | undefined> {
    const { clock } = this.#parts.context;
    const name = replica.metadata?.name ?? '';
    const sinceMs = this.#awaySinceMs.get(name) ?? clock.monotonicMs();
    this.#awaySinceMs.set(name, sinceMs);
    this.#checksums.distrust(name);
    const restMs = sinceMs + awayMaxMs - clock.monotonicMs();
    if (restMs > 0) return { afterMs: restMs };
    const message = `disk ${replica.spec?.diskID} does not answer on node ${this.#parts.nodeName}`;
    await this.#report(replica, { currentState: 'error', message, isHealthy: false });
    return undefined;
  }

  async #keep(place: ReplicaPlace, signal: AbortSignal): Promise<Requeue | undefined> {
    const { replica, disk } = place;
    const { name = '', uid } = replica.metadata ?? {};
    if (this.#tasks.has(name)) return undefined;
    const state = await dataFolderOn(this.#parts, disk, { kind: 'Replica', name }).inspect();
    if (state.kind === 'foreign') return await this.#error(replica, `${state.problem}; move it away`);
    if (state.kind === 'known') {
      const { identity } = state;
      if (identity.uid !== uid || identity.volume !== replica.spec?.volumeName)
        return await this.#error(
          replica,
          `replicas/${name} on the disk has the data of replica ${identity.uid} of volume ${identity.volume}; move it away`,
        );
      const { dataBytes: bytes, modifiedNs } = state;
      if (bytes !== undefined && modifiedNs !== undefined)
        return await this.#running(place, { bytes, modifiedNs }, signal);
    }
    // An empty file in its place would look like the data.
    if (replica.status?.healthyAt !== undefined)
      return await this.#error(replica, `replicas/${name}/data.img is missing on disk ${disk.name}`);
    return await this.#make(place, signal);
  }

  /** Adopts a file that is there, and lengthens it if the volume has grown. */
  async #running(place: ReplicaPlace, stamp: FileStamp, signal: AbortSignal): Promise<Requeue | undefined> {
    const { replica, disk } = place;
    const { volumeSize: wanted = 0 } = replica.spec ?? {};
    const data = this.#dataOf(place);
    const damage = this.#checksums.damageOf(data, stamp);
    if (damage !== undefined) return await this.#damaged(replica, damage);
    let size = stamp.bytes;
    if (size < wanted && (await this.#isGranted(replica, disk, signal))) {
      await data.folder.grow(wanted);
      await this.#checksums.update(data, (identity) => ({ ...identity, size: wanted }), signal);
      size = wanted;
      this.#parts.onFilesChanged();
    }
    if (size !== stamp.bytes || !isRunning(replica) || !this.#checksums.hasLooked(data))
      this.#checksums.look(data);
    await this.#report(replica, { currentState: 'running', size, isHealthy: true });
    return undefined;
  }

  /** Reports the damage and keeps the file: a user decides which data is right. */
  async #damaged(replica: Replica, message: string): Promise<Requeue> {
    if (replica.status?.message !== message)
      this.#parts.context.events.record({
        regarding: referenceTo(replica, { apiVersion: apiVersionOf(replicas), kind: replicas.kind }),
        type: 'Warning',
        reason: 'ReplicaDamaged',
        action: 'Verify',
        note: message,
      });
    await this.#error(replica, message);
    // Nothing else says that the file was changed.
    return { afterMs: damagedPollMs };
  }

  async #make({ replica, disk }: ReplicaPlace, signal: AbortSignal): Promise<Requeue | undefined> {
    const name = replica.metadata?.name ?? '';
    if (!(await this.#isGranted(replica, disk, signal)))
      return await this.#starting(replica, `waits for disk ${disk.name} to grant its bytes`);
    const origin = await findReplicaOrigin(this.#parts, replica, signal);
    if (origin.kind === 'wait') return await this.#starting(replica, origin.message);
    if (origin.kind === 'empty') {
      this.#checksums.trust(
        this.#dataOf({ replica, disk }),
        await makeReplica(this.#parts, { replica, disk }, origin, signal),
      );
      this.#parts.onFilesChanged();
      return { afterMs: 0 };
    }
    const { clock } = this.#parts.context;
    const restMs = (this.#retryAtMs.get(name) ?? 0) - clock.monotonicMs();
    if (restMs > 0) return { afterMs: restMs };
    if (this.#tasks.size >= tasksMax) return { afterMs: busyMs };
    this.#tasks.start(name, async (stop) => {
      const make = async () => {
        const stamp = await makeReplica(this.#parts, { replica, disk }, origin, stop);
        this.#checksums.trust(this.#dataOf({ replica, disk }), stamp);
      };
      const hasFailed = !(await this.#attempt(replica, make, stop));
      if (hasFailed) this.#retryAtMs.set(name, clock.monotonicMs() + retryMs);
      this.#parts.onFilesChanged();
      this.#queue.add(name);
    });
    return undefined;
  }

  /** Returns false if it has failed, and must be retried later. Never throws. */
  async #attempt({ metadata }: Replica, work: () => Promise<void>, stop: AbortSignal): Promise<boolean> {
    const { context } = this.#parts;
    const name = metadata?.name ?? '';
    try {
      await work();
      this.#forgetFailure(name);
      return true;
    } catch (error) {
      // The object has changed, or the work was stopped; the next look decides.
      if (stop.aborted || isReason(error, 'Conflict') || isReason(error, 'NotFound')) return true;
      try {
        if (error instanceof ApiError) throw error;
        const message = error instanceof TransferError ? error.message : fileSystemReason(error);
        const replica = await context.cluster.resource(replicas).get({ name });
        this.#failures.report(name, { object: replica, resource: replicas, message, isFinal: false });
        await this.#report(replica, { currentState: 'starting', message });
      } catch (other) {
        context.report({ controller: 'disk-agent', key: name, error: other });
      }
      return false;
    }
  }

  #forgetFailure(name: string): void {
    this.#failures.forget(name);
    this.#retryAtMs.delete(name);
  }

  /** Enough bytes were granted, and the request for them has not been withdrawn. A refused expansion leaves the old grant. */
  async #isGranted({ metadata, spec }: Replica, disk: AgentDisk, signal: AbortSignal): Promise<boolean> {
    const name = metadata?.name ?? '';
    const client = this.#parts.context.cluster.resource(diskSchedules);
    const schedule = await undefinedIfNotFound(client.get({ name: disk.uuid }, { signal }));
    const asked = schedule?.spec?.replicas?.[name];
    const { scheduledSize = 0 } = schedule?.status?.replicas?.[name] ?? {};
    return asked !== undefined && scheduledSize >= (spec?.volumeSize ?? Number.POSITIVE_INFINITY);
  }

  // ── Deletion ──

  /** The finalizer goes after the file. */
  async #release(replica: Replica, signal: AbortSignal): Promise<undefined> {
    const { context, disks, nodeName } = this.#parts;
    const { name = '', finalizers = [] } = replica.metadata ?? {};
    await this.#tasks.stop(name);
    if (!finalizers.includes(diskAgentFinalizer)) return undefined;
    const { diskID, nodeID } = replica.spec ?? {};
    const isRemoved = await this.#removeFrom(replica, () => true);
    if (!isRemoved && nodeID !== nodeName) return undefined;
    const isGone = isRemoved || disks.ready(diskID) !== undefined || givesUpDisk(this.#parts, diskID ?? '');
    if (isGone)
      await removeFinalizer(context.cluster.resource(replicas), replica, diskAgentFinalizer, signal);
    else
      await this.#error(
        replica,
        `its file can't be removed: disk ${diskID} does not answer; if it is lost, annotate StorageNode ${nodeName} with stowage.dev/force-removal=true`,
      );
    return undefined;
  }

  /** Removes the replica's folder from the disks that are selected. A replica that has all of its data does not move. */
  async #removeFrom(replica: Replica, isSelected: (disk: AgentDisk) => boolean): Promise<boolean> {
    const { name = '', uid = '', deletionTimestamp } = replica.metadata ?? {};
    if (deletionTimestamp === undefined && replica.status?.healthyAt !== undefined) return false;
    let isRemoved = false;
    for (const disk of this.#parts.disks.all.filter(isSelected)) {
      const folder = dataFolderOn(this.#parts, disk, { kind: 'Replica', name });
      const state = await folder.inspect();
      if (state.kind === 'foreign' || (state.kind === 'known' && state.identity.uid !== uid)) continue;
      // A crash may have left a folder that is empty.
      if (state.kind === 'missing' && deletionTimestamp === undefined) continue;
      await Promise.all([this.#tasks.stop(name), this.#checksums.forget(name)]);
      await folder.remove(uid);
      isRemoved ||= state.kind === 'known';
      this.#parts.onFilesChanged();
    }
    return isRemoved;
  }

  // ── Status ──

  async #starting(replica: Replica, message: string): Promise<undefined> {
    await this.#report(replica, { currentState: 'starting', message });
    return undefined;
  }

  /** Reports an error that a user has to resolve. A replica that had data is reported as failed. */
  async #error(replica: Replica, message: string): Promise<undefined> {
    const hadData = replica.status?.healthyAt !== undefined;
    await this.#report(replica, { currentState: 'error', message, ...(hadData && { isHealthy: false }) });
    return undefined;
  }

  async #report(replica: Replica, report: ReplicaReport): Promise<void> {
    await writeReplicaStatus(this.#parts.context, replica, report);
  }
}

function isRunning({ status }: Pick<Replica, 'status'>): boolean {
  return status?.currentState === 'running';
}
