import { expect, onTestFailed, onTestFinished } from 'vitest';
import type { ClusterHooks } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { events } from '../../../kube/resources.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import {
  type DiskCapacitySettings,
  diskSettings,
  diskSettingsName,
} from '../../../kube/stowage/disk-settings.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import {
  type StorageDiskStatus,
  type StorageNode,
  storageNodes,
} from '../../../kube/stowage/storage-node.ts';
import { type DiskVolumeSpec, diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Random } from '../../../runtime/random.ts';
import { unrestedDisks } from '../../../simulation/invariants/disks.ts';
import type { ControllerEnvironment } from '../../testing/controller-environment.ts';
import { DiskInstances } from './disk-instances.ts';
import { RunawayGuard } from './runaway-guard.ts';
import { scenarioServer } from './scenario-server.ts';

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
  readonly environment: ControllerEnvironment;
  readonly #guard: RunawayGuard;
  readonly #instances: DiskInstances;
  /** While the controller has crashed, requests may have no verdict. */
  #isCrashing = false;

  private constructor(environment: ControllerEnvironment, kills: Random | undefined) {
    this.environment = environment;
    this.#guard = new RunawayGuard(environment.clock, () => {
      const [first] = environment.versions.violations;
      return first && `${first.invariant}: ${first.detail}`;
    });
    this.#instances = new DiskInstances({ environment, guard: this.#guard, kills });
    this.isUndisturbed = kills === undefined;
  }

  /** There is one instance, and nothing kills it: only then the number of writes is exact. */
  readonly isUndisturbed: boolean;

  static async start(...limits: readonly number[]): Promise<DisksFixture> {
    const { start, kills } = scenarioServer();
    const environment = await start();
    onTestFinished(() => environment[Symbol.asyncDispose]());
    const fixture = new DisksFixture(environment, kills);
    onTestFinished(() => fixture.#killAtTheEnd());
    onTestFailed(() => void (kills && process.stderr.write(`killed at: ${fixture.#instances.killed}\n`)));
    await prepareDisks(environment, limits);
    fixture.#instances.start();
    await fixture.settle();
    return fixture;
  }

  async settle(ms = 2_000): Promise<void> {
    await this.environment.settle(ms);
    if (!this.#isCrashing && this.#instances.areRunning) this.#checkRest();
  }

  /** Restarts the controller, stops it after this many writes, and starts it again. False if it did not write so much. */
  async crashAfter(writes: number, action: () => Promise<void>): Promise<boolean> {
    await this.#instances.stop();
    const crash = new CrashAfterWrites(writes);
    this.#instances.startOne(crash);
    this.#isCrashing = true;
    await action();
    this.#isCrashing = false;
    const isInterrupted = crash.hasCrashed;
    await this.#instances.stop();
    this.environment.errors.length = 0;
    this.#instances.start();
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
    return this.#reported(items.flatMap((event) => (event.reason === reason ? [event.note ?? ''] : [])));
  }

  /** The Events that match, as `REASON OBJECT: NOTE`. */
  async eventLines(pattern: RegExp): Promise<readonly string[]> {
    return this.#reported((await this.environment.eventLines()).filter((line) => pattern.test(line)));
  }

  /** Every instance records its own Event, so equal ones are merged. */
  #reported(texts: readonly string[]): readonly string[] {
    return this.isUndisturbed ? texts : [...new Set(texts)];
  }

  async addVolume(name: string, spec: DiskVolumeSpec): Promise<void> {
    await addVolume(this.environment, name, spec);
    await this.settle();
  }

  /** Adds all volumes at the same time. */
  async addVolumes(names: readonly string[], spec: DiskVolumeSpec): Promise<void> {
    await Promise.all(names.map((name) => addVolume(this.environment, name, spec)));
    await this.settle(10_000);
  }

  /** Runs one more instance of the controller, with faults of its own connection. */
  runAnother(...hooks: readonly ClusterHooks[]): void {
    this.#instances.startOne(...hooks);
  }

  /** Replaces the controller by one with these faults. */
  async restart(...hooks: readonly ClusterHooks[]): Promise<void> {
    await this.#instances.stop();
    this.#instances.start(...hooks);
    await this.settle();
  }

  /** Replaces the controller by a single instance with these faults. */
  async restartOne(...hooks: readonly ClusterHooks[]): Promise<void> {
    await this.#instances.stop();
    this.#instances.startOne(...hooks);
    await this.settle();
  }

  /** Ends the watches of the controller, as an API server does from time to time. */
  endWatches(): void {
    this.#instances.endWatches();
  }

  async stop(): Promise<void> {
    await this.#instances.stop();
  }

  /** Stored versions are not checked while `work` writes what no controller would write. */
  async unchecked(work: () => Promise<void>): Promise<void> {
    await this.environment.settle(0);
    this.environment.versions.isPaused = true;
    await work();
    await this.environment.settle(0);
    this.environment.versions.isPaused = false;
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

  /** Replicas of a volume as `DISK BYTES STATE`, sorted: a replacement may have the name of the deleted one, or the next one. */
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

  /** Two instances may request bytes on two disks for one replica; the second request is collected after two minutes. */
  async restIfDisturbed(): Promise<void> {
    if (!this.isUndisturbed) await this.checkAtRest();
  }

  /** A scenario with fewer requests than expected has its kill too, and the time to get over it. */
  async #killAtTheEnd(): Promise<void> {
    this.#instances.killIfNoneWas();
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
  environment: ControllerEnvironment,
  limits: readonly number[],
): Promise<void> {
  await environment.installOwnKinds();
  for (const [at, limit] of limits.entries())
    await addStorageNode(environment, at + 1, reportedDisk(at + 1, limit));
}

/** A StorageNode that reports this disk by the name d. */
async function addStorageNode(
  { cluster }: ControllerEnvironment,
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
  { cluster }: ControllerEnvironment,
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
