import type { Cluster } from '../../cluster/cluster.ts';
import type { DiskIndex } from '../../engine/disks/disk-index.ts';
import { rejectedDisksKey, withRejection } from '../../engine/disks/rejected-disks.ts';
import type { VolumeStep } from '../../engine/disks/volumes/volume-model.ts';
import { conflict, isReason } from '../../kube/api-error.ts';
import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import {
  hasReplicaData,
  type Replica,
  removalMarkKey,
  replicaFinalizer,
  replicas,
} from '../../kube/stowage/replica.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';
import { hasHealthySibling } from './confirm-spare.ts';
import type { DiskCaches } from './disk-caches.ts';
import type { ExpectedChange } from './own-writes.ts';
import { readEntry } from './read-entry.ts';

const apiVersion = apiVersionOf(diskVolumes);

/** The objects that the plan was made from. The caches may have changed since, while earlier steps were running. */
export interface PlannedObjects {
  readonly replicas: ReadonlyMap<string, Replica>;
  /** The schedules that requests are withdrawn from, by the disk's UUID. */
  readonly schedules: ReadonlyMap<string, Pick<DiskSchedule, 'status'>>;
}

export interface VolumeStepsOptions {
  readonly cluster: Cluster;
  readonly planned: PlannedObjects;
  readonly caches: DiskCaches;
  readonly diskIndex: DiskIndex;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Receives each write that the caches will show. */
  readonly expect: (change: ExpectedChange, isSeen: () => boolean) => void;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * Carries out the steps of one volume, each with one write. A write of a Replica carries the version that the plan was made from: another instance may have moved
 * the replica meanwhile, to a disk that has not granted it. A withdrawal carries a version with the verdict that the plan was made from: if the disk has
 * granted the request meanwhile, the withdrawal fails and the grant is used. A request carries only the uid of the
 * schedule: it sets one key that only this volume writes, so many volumes may request at the same time, and a late request releases no bytes that the volume
 * holds (`verdicts/grant-holds.ts`). Before another size is requested, the volume is read again, and a smaller request carries the version of the schedule:
 * instances with different caches do not undo each other's requests.
 */
export class VolumeSteps {
  readonly #options: VolumeStepsOptions;
  readonly #volume: DiskVolume;
  /** Replicas as the previous steps wrote them. */
  readonly #written = new Map<string, Replica>();

  constructor(volume: DiskVolume, options: VolumeStepsOptions) {
    this.#volume = volume;
    this.#options = options;
  }

  async run(step: VolumeStep): Promise<void> {
    switch (step.kind) {
      case 'create':
        return await this.#create(step.replica, step.bytes);
      case 'delete':
        return await this.#delete(step.replica, step.isLossAccepted);
      case 'keep':
        return await this.#mark(step.replica, null);
      case 'assign':
        return await this.#place(step.replica, { nodeID: step.disk.nodeName, diskID: step.disk.uuid });
      case 'unassign':
        return await this.#place(step.replica, { nodeID: null, diskID: null });
      case 'start':
        return await this.#start(step.replica);
      case 'follow':
        return await this.#patchReplica(step.replica, { spec: { nodeID: step.nodeName } });
      case 'fail':
        return await this.#fail(step.replica, step.message);
      case 'grow':
        return await this.#patchReplica(step.replica, { spec: { volumeSize: step.bytes } });
      case 'request':
        return await this.#request(step.replica, step.diskUUID, step.bytes);
      case 'withdraw':
        return await this.#withdraw(step.replica, step.diskUUID);
    }
  }

  async #create(name: string, volumeSize: number): Promise<void> {
    const { cluster, signal } = this.#options;
    const { name: volumeName = '', uid = '' } = this.#volume.metadata ?? {};
    const owner = { apiVersion, kind: 'Volume', name: volumeName, uid, controller: true };
    const metadata = {
      name,
      finalizers: [replicaFinalizer],
      ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
    };
    const body = { apiVersion, kind: 'Replica', metadata, spec: { volumeName, volumeSize } };
    try {
      const created = await this.#writeReplica(name, () =>
        cluster.resource(replicas).create(body, { signal }),
      );
      this.#written.set(name, created);
    } catch (error) {
      if (!isReason(error, 'AlreadyExists')) throw error;
      const { spec } = await cluster.resource(replicas).get({ name }, { signal });
      // Another instance has created it, or the cache is behind.
      if (spec?.volumeName === volumeName) return;
      const remedy = `delete that Replica, or give Volume ${volumeName} another name`;
      throw new Error(`Replica ${name} belongs to Volume ${spec?.volumeName}; ${remedy}`, { cause: error });
    }
  }

  /**
   * A replica with data is marked first, and the marked version is deleted only if another replica is healthy now. After a crash in between, the mark
   * stays: the next plan deletes the replica, or removes the mark. If a user has accepted the loss of the data, no other replica is needed.
   */
  async #delete(name: string, isLossAccepted = false): Promise<void> {
    const { cluster, signal } = this.#options;
    if (hasReplicaData(this.#replica(name)) && !isLossAccepted) await this.#confirmSpare(name);
    const { uid, resourceVersion } = this.#replica(name).metadata ?? {};
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    await this.#writeReplica(name, () =>
      cluster.resource(replicas).delete({ name }, { preconditions, signal }),
    );
  }

  async #confirmSpare(name: string): Promise<void> {
    const { cluster, signal } = this.#options;
    if (this.#replica(name).metadata?.annotations?.[removalMarkKey] === undefined)
      await this.#mark(name, 'true');
    if (await hasHealthySibling(cluster, { volume: this.#volume, replica: name }, signal)) return;
    await this.#mark(name, null);
    throw conflict(replicas, name, 'it has data, and no other replica of its volume is healthy');
  }

  async #mark(name: string, value: 'true' | null): Promise<void> {
    await this.#patchReplica(name, { metadata: { annotations: { [removalMarkKey]: value } } });
  }

  async #place(
    name: string,
    place: { readonly nodeID: string | null; readonly diskID: string | null },
  ): Promise<void> {
    const { diskIndex, nowMs } = this.#options;
    const replica = this.#replica(name);
    const left = replica.spec?.diskID;
    const annotations =
      left === undefined ? undefined : { [rejectedDisksKey]: withRejection(replica, left, diskIndex, nowMs) };
    await this.#patchReplica(name, { ...(annotations && { metadata: { annotations } }), spec: place });
  }

  async #patchReplica(
    name: string,
    change: { readonly metadata?: object; readonly spec?: object },
  ): Promise<void> {
    const { cluster, signal } = this.#options;
    const { uid, resourceVersion } = this.#replica(name).metadata ?? {};
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    const written = await this.#writeReplica(name, () =>
      cluster.resource(replicas).patch({ name }, { type: 'merge', body }, { signal }),
    );
    this.#written.set(name, written);
  }

  /** Writes a Replica. The cache shows the write once its version differs from all versions before the write. */
  async #writeReplica<T>(name: string, write: () => Promise<T>): Promise<T> {
    const { caches, expect } = this.#options;
    const cached = () => caches.replicas.get(name)?.metadata?.resourceVersion;
    const older = new Set([cached(), this.#replica(name).metadata?.resourceVersion]);
    const written = await write();
    expect('version', () => !older.has(cached()));
    return written;
  }

  /** The cache shows the write, or one that replaced it, once the request differs from the previous one. */
  #expectEntry(replica: string, diskUUID: string, before: number | undefined): void {
    this.#options.expect('value', () => this.#asked(replica, diskUUID) !== before);
  }

  #asked(replica: string, diskUUID: string): number | undefined {
    return ownValue(this.#options.caches.schedules.get(diskUUID)?.spec?.replicas, replica);
  }

  /** The Event is recorded by the process whose write took place. */
  async #fail(name: string, message: string): Promise<void> {
    const { cluster, events, nowMs, signal } = this.#options;
    const { uid, resourceVersion } = this.#replica(name).metadata ?? {};
    const status = { failedAt: formatTimestamp(nowMs), currentState: 'error', message };
    const body = { metadata: { uid, resourceVersion }, status };
    const written = await this.#writeReplica(name, () =>
      cluster.resource(replicas).patch({ name }, { type: 'merge', body }, { subresource: 'status', signal }),
    );
    this.#written.set(name, written);
    events.record({
      regarding: referenceTo(this.#volume, { apiVersion, kind: 'Volume' }),
      type: 'Warning',
      reason: 'ReplicaFailed',
      action: 'Fail',
      note: `replica ${name}: ${message}`,
    });
  }

  #replica(name: string): Replica {
    return this.#written.get(name) ?? this.#options.planned.replicas.get(name) ?? {};
  }

  /**
   * The volume is read again, after the plan saw the replica. So the replica existed before any expansion that was requested later, which needs the
   * grant of this replica too. While one is requested already, and after it was committed, a replica with the smaller size does not start.
   *
   * The grant is read again, too: a cache that is behind may have the grant of a deleted replica with this name. The disk does not release bytes that are granted to
   * a replica on it (`verdicts/grant-holds.ts`), and the write fails if the replica has another disk meanwhile.
   */
  async #start(name: string): Promise<void> {
    const { cluster, signal } = this.#options;
    const { status } = await this.#readVolume();
    if (!isEqualWhenStored(status?.expansion, this.#volume.status?.expansion))
      throw conflict(diskVolumes, this.#volume.metadata?.name ?? '', 'its expansion has changed');
    const replica = this.#replica(name);
    const { diskID = '', volumeSize = 0 } = replica.spec ?? {};
    const { askedBytes, verdict } = (await readEntry(cluster, replica, signal)) ?? {};
    if (askedBytes === undefined || (verdict?.scheduledSize ?? 0) < volumeSize)
      throw conflict(diskSchedules, diskID, `it has not granted the bytes of replica ${name}`);
    await this.#patchReplica(name, { spec: { desiredState: 'running' } });
  }

  async #readVolume(): Promise<DiskVolume> {
    const { cluster, signal } = this.#options;
    return await cluster.resource(diskVolumes).get({ name: this.#volume.metadata?.name ?? '' }, { signal });
  }

  async #confirmVolume(): Promise<void> {
    const { name = '', resourceVersion } = this.#volume.metadata ?? {};
    const { metadata } = await this.#readVolume();
    if (metadata?.resourceVersion !== resourceVersion)
      throw conflict(diskVolumes, name, 'it has changed since it was read');
  }

  async #request(replica: string, diskUUID: string, bytes: number): Promise<void> {
    const { cluster, caches, signal } = this.#options;
    const schedule = caches.schedules.get(diskUUID);
    const { uid, resourceVersion } = schedule?.metadata ?? {};
    const asked = this.#asked(replica, diskUUID);
    const isTakenBack = bytes < (asked ?? 0);
    if (asked !== undefined) await this.#confirmVolume();
    const metadata = { uid, ...(isTakenBack && { resourceVersion }) };
    const body = { metadata, spec: { replicas: { [replica]: bytes } } };
    try {
      await cluster.resource(diskSchedules).patch({ name: diskUUID }, { type: 'merge', body }, { signal });
    } catch (error) {
      // Other requests have filled the schedule since the plan was made.
      if (isReason(error, 'Invalid')) throw conflict(diskSchedules, diskUUID, error.message);
      throw error;
    }
    if (asked !== bytes) this.#expectEntry(replica, diskUUID, asked);
  }

  async #withdraw(replica: string, diskUUID: string): Promise<void> {
    const { cluster, caches, planned, signal } = this.#options;
    const schedule = caches.schedules.get(diskUUID);
    const { uid, resourceVersion } = schedule?.metadata ?? {};
    const verdict = ownValue(schedule?.status?.replicas, replica);
    if (!isEqualWhenStored(verdict, ownValue(planned.schedules.get(diskUUID)?.status?.replicas, replica)))
      throw conflict(diskSchedules, diskUUID, 'its verdict has changed since it was read');
    const asked = this.#asked(replica, diskUUID);
    const body = { metadata: { uid, resourceVersion }, spec: { replicas: { [replica]: null } } };
    await cluster.resource(diskSchedules).patch({ name: diskUUID }, { type: 'merge', body }, { signal });
    if (asked !== undefined) this.#expectEntry(replica, diskUUID, asked);
  }
}
