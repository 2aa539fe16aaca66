import { expect, onTestFinished } from 'vitest';
import { type ClusterHooks, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/disks/disk-schedule.ts';
import {
  type DiskCapacitySettings,
  diskSettings,
  diskSettingsName,
} from '../../../kube/disks/disk-settings.ts';
import { replicas } from '../../../kube/disks/replica.ts';
import { type StorageDiskStatus, type StorageNode, storageNodes } from '../../../kube/disks/storage-node.ts';
import { type DiskVolumeSpec, diskVolumes } from '../../../kube/disks/volume.ts';
import { events } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { unrestedDisks } from '../../../simulation/invariants/disks.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { disksController } from '../disks-controller.ts';
import { RunawayGuard } from './runaway-guard.ts';

const apiVersion = 'stowage.dev/v1alpha1';

/** The UUID of the disk with this number. */
export function diskUUID(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function reportedDisk(number: number, storageAvailable: number): StorageDiskStatus {
  return { diskUUID: diskUUID(number), storageMaximum: 1_000_000, storageAvailable };
}

/** A cluster under virtual time with the controller `disks`. Disk 1 is on node n1, and so on. Every stored DiskSchedule is checked. */
export class DisksFixture {
  readonly environment: VirtualTimeCluster;
  readonly #guard: RunawayGuard;
  #run: Supervisor | undefined;
  #connection: InterceptedCluster | undefined;
  /** While the controller has crashed, requests may have no verdict. */
  #isCrashing = false;

  private constructor(environment: VirtualTimeCluster) {
    this.environment = environment;
    this.#guard = new RunawayGuard(environment.clock, () => {
      const [first] = environment.versions.violations;
      return first && `${first.invariant}: ${first.detail}`;
    });
  }

  static async start(...limits: readonly number[]): Promise<DisksFixture> {
    const environment = await VirtualTimeCluster.start();
    onTestFinished(() => environment[Symbol.asyncDispose]());
    const fixture = new DisksFixture(environment);
    await prepareDisks(environment, limits);
    fixture.#run = environment.run([disksController], fixture.#connect());
    await fixture.settle();
    return fixture;
  }

  async settle(ms = 2_000): Promise<void> {
    await this.environment.settle(ms);
    if (!this.#isCrashing && this.#run !== undefined) this.#checkRest();
  }

  /** Restarts the controller, stops it after this many writes, and starts it again. False if it did not write so much. */
  async crashAfter(writes: number, action: () => Promise<void>): Promise<boolean> {
    await this.#run?.close();
    const crash = new CrashAfterWrites(writes);
    const first = this.environment.run([disksController], this.#connect(crash));
    this.#isCrashing = true;
    await action();
    this.#isCrashing = false;
    const isInterrupted = crash.hasCrashed;
    await first.close();
    this.environment.errors.length = 0;
    this.#run = this.environment.run([disksController], this.#connect());
    await this.settle();
    return isInterrupted;
  }

  async setLimit(number: number, storageAvailable: number): Promise<void> {
    const body = { status: { diskStatus: { d: reportedDisk(number, storageAvailable) } } };
    await this.environment.cluster
      .resource(storageNodes)
      .patch({ name: `n${number}` }, { type: 'merge', body }, { subresource: 'status' });
    await this.settle();
  }

  /** The node of the disk and the disk itself answer again, or not. */
  async setReady(number: number, isReady: boolean): Promise<void> {
    const message = isReady ? '' : 'the disk does not answer';
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'Probed', message }];
    await this.reportDisk(number, { conditions });
  }

  /** Changes what node number N reports about its disk; null removes the disk. */
  async reportDisk(number: number, change: object | null): Promise<void> {
    const body = { status: { diskStatus: { d: change } } };
    await this.environment.cluster
      .resource(storageNodes)
      .patch({ name: `n${number}` }, { type: 'merge', body }, { subresource: 'status' });
    await this.settle();
  }

  async patchNode(number: number, body: Pick<StorageNode, 'spec' | 'metadata'>): Promise<void> {
    await this.environment.cluster
      .resource(storageNodes)
      .patch({ name: `n${number}` }, { type: 'merge', body });
    await this.settle();
  }

  async addNode(number: number, limit: number, disk = number): Promise<void> {
    await addStorageNode(this.environment, number, reportedDisk(disk, limit));
    await this.settle();
  }

  async setSettings(spec: DiskCapacitySettings): Promise<void> {
    const client = this.environment.cluster.resource(diskSettings);
    const metadata = { name: diskSettingsName };
    const found = await undefinedIfNotFound(client.get(metadata));
    if (found === undefined) await client.create({ apiVersion, kind: 'DiskSettings', metadata, spec });
    else await client.update({ ...found, spec });
    await this.settle();
  }

  /** Writes requests as any requester does; null withdraws one. */
  async request(
    number: number,
    sizes: Readonly<Record<string, number | null>>,
    kind: 'replicas' | 'backingImages' = 'replicas',
  ): Promise<void> {
    const body = { spec: { [kind]: sizes } };
    await this.environment.cluster
      .resource(diskSchedules)
      .patch({ name: diskUUID(number) }, { type: 'merge', body });
    await this.settle();
  }

  async schedule(number: number): Promise<DiskSchedule | undefined> {
    return await undefinedIfNotFound(
      this.environment.cluster.resource(diskSchedules).get({ name: diskUUID(number) }),
    );
  }

  /** Verdicts as `NAME STATE BYTES`, with the reason if there is one, sorted. */
  async verdicts(
    number: number,
    kind: 'replicas' | 'backingImages' = 'replicas',
  ): Promise<readonly string[]> {
    const all = (await this.schedule(number))?.status?.[kind] ?? {};
    return Object.entries(all)
      .map(([name, { state, scheduledSize, reason }]) =>
        [name, state, scheduledSize, ...(reason ? [reason] : [])].join(' '),
      )
      .sort();
  }

  /** A condition of a schedule as `STATUS REASON: MESSAGE`. */
  async condition(number: number, type: string): Promise<string> {
    const found = getCondition((await this.schedule(number))?.status?.conditions, type);
    return found === undefined ? '-' : `${found.status} ${found.reason}: ${found.message}`;
  }

  /** Notes of the Events with this reason. */
  async notes(reason: string): Promise<readonly string[]> {
    const { items } = await this.environment.cluster.resource(events).list();
    return items.flatMap((event) => (event.reason === reason ? [event.note ?? ''] : []));
  }

  async addVolume(name: string, spec: DiskVolumeSpec): Promise<void> {
    await addVolume(this.environment, name, spec);
    await this.settle();
  }

  /** All at once. */
  async addVolumes(names: readonly string[], spec: DiskVolumeSpec): Promise<void> {
    await Promise.all(names.map((name) => addVolume(this.environment, name, spec)));
    await this.settle(10_000);
  }

  /** Runs one more instance of the controller, with faults of its own connection. */
  runAnother(...hooks: readonly ClusterHooks[]): void {
    this.environment.run([disksController], this.#connect(...hooks));
  }

  /** Replaces the controller by one with these faults. */
  async restart(...hooks: readonly ClusterHooks[]): Promise<void> {
    await this.#run?.close();
    this.#connection = this.#connect(...hooks);
    this.#run = this.environment.run([disksController], this.#connection);
    await this.settle();
  }

  #connect(...hooks: readonly ClusterHooks[]): InterceptedCluster {
    return new InterceptedCluster(this.environment.cluster, this.#guard, ...hooks);
  }

  /** Ends the watches of the controller, as an API server does from time to time. */
  endWatches(): void {
    this.#connection?.endWatches();
  }

  async stop(): Promise<void> {
    await this.#run?.close();
    this.#run = undefined;
  }

  async patchVolume(name: string, spec: DiskVolumeSpec): Promise<void> {
    await this.environment.cluster.resource(diskVolumes).patch({ name }, { type: 'merge', body: { spec } });
    await this.settle();
  }

  /** Replicas as `NAME DISK BYTES STATE`; `-` without a disk. */
  async replicas(): Promise<readonly string[]> {
    const { items } = await this.environment.cluster.resource(replicas).list();
    return items.map(({ metadata, spec }) =>
      [metadata?.name, numberOf(spec?.diskID), spec?.volumeSize, spec?.desiredState].join(' '),
    );
  }

  /** Replicas of a volume as `DISK BYTES STATE`, sorted: a replacement may have the name of the one that is gone, or the next one. */
  async places(volume: string): Promise<readonly string[]> {
    const { items } = await this.environment.cluster.resource(replicas).list();
    return items
      .filter(({ spec }) => spec?.volumeName === volume)
      .map(({ spec }) => [numberOf(spec?.diskID), spec?.volumeSize, spec?.desiredState].join(' '))
      .sort();
  }

  /** Granted bytes by the number of the disk. */
  async granted(): Promise<Readonly<Record<string, number>>> {
    const { items } = await this.environment.cluster.resource(diskSchedules).list();
    return Object.fromEntries(
      items.map(({ metadata, status }) => [numberOf(metadata?.name), status?.storageScheduled ?? 0]),
    );
  }

  /** The size of a volume, and its condition as `STATUS REASON: MESSAGE`. */
  async allocation(name: string): Promise<readonly [size: number | undefined, condition: string]> {
    const { status } = await this.environment.cluster.resource(diskVolumes).get({ name });
    const found = status?.conditions?.find(({ type }) => type === 'DiskAllocation');
    return [status?.size, `${found?.status} ${found?.reason}: ${found?.message}`];
  }

  /** A replica has got its data, as its agent would report. */
  async setHealthy(name: string): Promise<void> {
    await this.environment.cluster
      .resource(replicas)
      .patch(
        { name },
        { type: 'merge', body: { status: { healthyAt: '2026-01-01T00:00:00Z' } } },
        { subresource: 'status' },
      );
    await this.settle();
  }

  /** Lets all timers pass that requesters may wait for, and checks what must be true when nothing is left to do. */
  async checkAtRest(): Promise<void> {
    await this.settle(10 * 60_000);
    expect(unrestedDisks(this.environment.versions)).toEqual([]);
  }

  /** Every stored version is checked by the environment; this is checked whenever work has ended. */
  #checkRest(): void {
    const { violations } = this.environment.versions;
    expect(this.#guard.failure).toBeUndefined();
    expect(violations).toEqual([]);
    expect(this.environment.errors).toEqual([]);
  }
}

/** The kinds, and a StorageNode with one disk for each limit. */
export async function prepareDisks(
  environment: VirtualTimeCluster,
  limits: readonly number[],
): Promise<void> {
  await environment.installOwnKinds();
  for (const [at, limit] of limits.entries())
    await addStorageNode(environment, at + 1, reportedDisk(at + 1, limit));
}

/** A StorageNode that reports this disk by the name d. */
async function addStorageNode(
  { cluster }: VirtualTimeCluster,
  number: number,
  disk: StorageDiskStatus,
): Promise<void> {
  const client = cluster.resource(storageNodes);
  const metadata = { name: `n${number}` };
  const spec = { disks: { d: { path: '/d' } } };
  const created = await client.create({ apiVersion, kind: 'StorageNode', metadata, spec });
  await client.update({ ...created, status: { diskStatus: { d: disk } } }, { subresource: 'status' });
}

export async function addVolume(
  { cluster }: VirtualTimeCluster,
  name: string,
  spec: DiskVolumeSpec,
): Promise<void> {
  const body: KubeObject & { spec: DiskVolumeSpec } = {
    apiVersion,
    kind: 'Volume',
    metadata: { name },
    spec,
  };
  await cluster.resource(diskVolumes).create(body);
}

function numberOf(uuid: string | undefined): string {
  return uuid === undefined ? '-' : String(Number(uuid.slice(-12)));
}
