import { expect, onTestFinished } from 'vitest';
import type { Cluster } from '../../../../cluster/cluster.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../../kube/api/core.ts';
import type { StorageClass } from '../../../../kube/api/storage.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  pods,
  storageClasses,
} from '../../../../kube/resources.ts';
import { diskSchedules } from '../../../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../../../kube/stowage/replica.ts';
import { disksDriver, diskVolumes } from '../../../../kube/stowage/volume.ts';
import type { Controller } from '../../../../reconcile/controller.ts';
import { allControllers, type ControllerSettings } from '../../../all-controllers.ts';
import { prepareDisks } from '../../../disks/testing/disks-fixture.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';

export const namespace = 'default';
const size = { cpu: '8', memory: '32Gi', pods: '200' };

export interface DiskClaimsOptions {
  readonly limits: readonly number[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly storageClass?: Partial<StorageClass>;
  readonly settings?: ControllerSettings;
}

/** The kinds, a StorageNode and a Node for each limit, the driver and a class `disks` with two replicas. */
export async function prepareDiskClaims(
  environment: VirtualTimeCluster,
  { limits, parameters = { numberOfReplicas: '2' }, storageClass }: DiskClaimsOptions,
): Promise<void> {
  const { cluster } = environment;
  await prepareDisks(environment, limits);
  for (const at of limits.keys())
    await cluster
      .resource(nodes)
      .create({ metadata: { name: `n${at + 1}` }, status: { allocatable: size, capacity: size } });
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: disksDriver }, spec: { attachRequired: false, storageCapacity: true } });
  await cluster.resource(storageClasses).create({
    metadata: { name: 'disks' },
    provisioner: disksDriver,
    parameters,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
    ...storageClass,
  });
}

export function diskClaimControllers(settings: ControllerSettings = {}): readonly Controller[] {
  return allControllers({ allocationOnly: true, ...settings });
}

/** All controllers on a cluster under virtual time, with disks of these sizes. */
export class DiskClaimsFixture {
  readonly environment: VirtualTimeCluster;
  readonly cluster: Cluster;

  private constructor(environment: VirtualTimeCluster) {
    this.environment = environment;
    this.cluster = environment.cluster;
  }

  static async start(options: DiskClaimsOptions): Promise<DiskClaimsFixture> {
    const environment = await VirtualTimeCluster.start();
    onTestFinished(() => environment[Symbol.asyncDispose]());
    await prepareDiskClaims(environment, options);
    environment.run(diskClaimControllers(options.settings));
    await environment.settle(1_000);
    return new DiskClaimsFixture(environment);
  }

  /** On a cluster whose controllers the test runs itself. */
  static on(environment: VirtualTimeCluster): DiskClaimsFixture {
    return new DiskClaimsFixture(environment);
  }

  async settle(ms = 5_000): Promise<void> {
    await this.environment.settle(ms);
  }

  async addClaim(name: string, bytes: number, more: PersistentVolumeClaimSpec = {}): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).create(claimWith(name, bytes, more));
  }

  /** A pod with a claim of each size. */
  async addPod(name: string, ...sizes: readonly number[]): Promise<void> {
    for (const [at, bytes] of sizes.entries()) await this.addClaim(`${name}-${at}`, bytes);
    await this.addPodFor(
      name,
      sizes.map((_, at) => `${name}-${at}`),
    );
  }

  async addPodFor(name: string, claims: readonly string[]): Promise<void> {
    await this.cluster.resource(pods).create(podWith(name, claims));
  }

  async claim(name: string): Promise<PersistentVolumeClaim> {
    return await this.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  }

  async request(name: string, bytes: number): Promise<void> {
    const body = { spec: { resources: { requests: { storage: String(bytes) } } } };
    await this.cluster
      .resource(persistentVolumeClaims)
      .patch({ namespace, name }, { type: 'merge', body }, {});
  }

  /** `NAME PHASE` of every pod. */
  async phases(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(pods).list();
    return items.map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`).sort();
  }

  /** Granted bytes of each disk, in the order of the disks. */
  async granted(): Promise<readonly number[]> {
    const { items } = await this.cluster.resource(diskSchedules).list();
    return items.map(({ status }) => status?.storageScheduled ?? 0);
  }

  /** The nodes of the replicas of each volume, by the name of its claim. */
  async replicaNodes(): Promise<Readonly<Record<string, readonly string[]>>> {
    const { items } = await this.cluster.resource(replicas).list();
    const claims = (await this.cluster.resource(persistentVolumeClaims).list()).items;
    return Object.fromEntries(
      claims.map(({ metadata }) => {
        const own = items.filter(({ spec }) => spec?.volumeName === `pvc-${metadata?.uid}`);
        return [metadata?.name, own.map(({ spec }) => spec?.nodeID ?? '').sort()];
      }),
    );
  }

  /** `CLASS TOTAL LARGEST` of every published figure. */
  async figures(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(csiStorageCapacities).list();
    return items
      .map(({ storageClassName, capacity, maximumVolumeSize }) =>
        [storageClassName, capacity, maximumVolumeSize].join(' '),
      )
      .sort();
  }

  /** Nothing of any volume is left, and every byte is free. */
  async expectEmpty(): Promise<void> {
    expect((await this.cluster.resource(diskVolumes).list()).items).toEqual([]);
    expect((await this.cluster.resource(replicas).list()).items).toEqual([]);
    expect(new Set(await this.granted())).toEqual(new Set([0]));
  }

  async deletePod(name: string): Promise<void> {
    await this.cluster.resource(pods).delete({ namespace, name });
  }

  async deleteClaim(name: string): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).delete({ namespace, name });
  }
}

function claimWith(name: string, bytes: number, more: PersistentVolumeClaimSpec = {}) {
  return {
    metadata: { namespace, name },
    spec: {
      storageClassName: 'disks',
      accessModes: ['ReadWriteOnce' as const],
      resources: { requests: { storage: String(bytes) } },
      ...more,
    },
  };
}

function podWith(name: string, claims: readonly string[]) {
  return {
    metadata: { namespace, name },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
  };
}
