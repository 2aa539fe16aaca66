import { expect, onTestFinished } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { type DiskSchedule, diskSchedules } from '../../../kube/disks/disk-schedule.ts';
import { replicas } from '../../../kube/disks/replica.ts';
import { type StorageDiskStatus, storageNodes } from '../../../kube/disks/storage-node.ts';
import { type DiskVolumeSpec, diskVolumes } from '../../../kube/disks/volume.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { disksController } from '../disks-controller.ts';

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
  #run: Supervisor | undefined;
  /** While the controller has crashed, requests may have no verdict. */
  #isCrashing = false;

  private constructor(environment: VirtualTimeCluster) {
    this.environment = environment;
  }

  static async start(...limits: readonly number[]): Promise<DisksFixture> {
    const environment = await VirtualTimeCluster.start();
    onTestFinished(() => environment[Symbol.asyncDispose]());
    const fixture = new DisksFixture(environment);
    await prepareDisks(environment, limits);
    fixture.#run = environment.run([disksController]);
    await fixture.settle();
    return fixture;
  }

  async settle(ms = 2_000): Promise<void> {
    await this.environment.settle(ms);
    if (!this.#isCrashing) await this.#checkSchedules();
  }

  /** Restarts the controller, stops it after this many writes, and starts it again. False if it did not write so much. */
  async crashAfter(writes: number, action: () => Promise<void>): Promise<boolean> {
    await this.#run?.close();
    const crash = new CrashAfterWrites(writes);
    const first = this.environment.run(
      [disksController],
      new InterceptedCluster(this.environment.cluster, crash),
    );
    this.#isCrashing = true;
    await action();
    this.#isCrashing = false;
    const isInterrupted = crash.hasCrashed;
    await first.close();
    this.environment.errors.length = 0;
    this.#run = this.environment.run([disksController]);
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

  async addVolume(name: string, spec: DiskVolumeSpec): Promise<void> {
    await addVolume(this.environment, name, spec);
    await this.settle();
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

  /** At rest: every request has its verdict, and every entry its owner. */
  async #checkSchedules(): Promise<void> {
    const { items } = await this.environment.cluster.resource(diskSchedules).list();
    for (const schedule of items) checkSums(schedule);
    expect(this.environment.errors).toEqual([]);
  }
}

/** The kinds, and a StorageNode with one disk for each limit. */
export async function prepareDisks(
  environment: VirtualTimeCluster,
  limits: readonly number[],
): Promise<void> {
  await environment.installOwnKinds();
  const client = environment.cluster.resource(storageNodes);
  for (const [at, limit] of limits.entries()) {
    const number = at + 1;
    const spec = { disks: { d: { path: '/d' } } };
    const created = await client.create({
      apiVersion,
      kind: 'StorageNode',
      metadata: { name: `n${number}` },
      spec,
    });
    const status = { diskStatus: { d: reportedDisk(number, limit) } };
    await client.update({ ...created, status }, { subresource: 'status' });
  }
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

function checkSums({ spec, status }: DiskSchedule): void {
  const all = [
    ...Object.entries(status?.replicas ?? {}).map(
      ([name, verdict]) => [spec?.replicas?.[name], verdict] as const,
    ),
    ...Object.entries(status?.backingImages ?? {}).map(
      ([name, verdict]) => [spec?.backingImages?.[name], verdict] as const,
    ),
  ];
  const sum = all.reduce((total, [, { scheduledSize = 0 }]) => total + scheduledSize, 0);
  expect(status?.storageScheduled ?? 0).toBe(sum);
  for (const [asked, { state, scheduledSize = 0 }] of all) {
    expect(asked).toBeDefined();
    if (state === 'scheduled') expect(scheduledSize).toBe(asked);
    else expect(scheduledSize).toBeLessThan(asked ?? 0);
  }
}

function numberOf(uuid: string | undefined): string {
  return uuid === undefined ? '-' : String(Number(uuid.slice(-12)));
}
