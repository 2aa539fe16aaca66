import type { Provisioner } from '../../../controllers/provisioner/provisioner.ts';
import { FakeProvisioner } from '../../../controllers/scheduler/testing/fake-provisioner.ts';
import {
  type NodeOptions,
  namespace,
  type SchedulerFixture,
} from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { csiDrivers, csiStorageCapacities, persistentVolumes } from '../../../kube/resources.ts';
import { drives, drivesDriver } from '../../../kube/stowage/drive.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { Random } from '../../../runtime/random.ts';
import { randomZones } from './random-pods.ts';

const gib = 2 ** 30;
/** A node service runs (`drive-node-plugins.ts`). */
const mounted = {
  type: 'Mounted',
  status: 'True',
  reason: 'Mounted',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
/** Clusters with drives take longer to start. */
const drivesShare = 0.3;

/** The nodes of a small random cluster and what they reach: local disks, a pool in each zone, and in some clusters drives. */
export class RandomStorage {
  readonly nodes: string[] = [];
  readonly drives: string[] = [];
  readonly hasDrives: boolean;
  /** The classes to draw from, the likely ones more than once. */
  readonly classes: readonly string[];
  readonly #fixture: SchedulerFixture;
  readonly #random: Random;
  /** The size of the pool of each zone, in GiB. */
  readonly #pools = new Map<string, number>();
  readonly #nodeOptions = new Map<string, NodeOptions>();

  constructor(fixture: SchedulerFixture, random: Random) {
    this.#fixture = fixture;
    this.#random = random;
    this.hasDrives = random.next() < drivesShare;
    this.classes = this.hasDrives ? ['drives', 'drives', 'drives', 'pools'] : ['local', 'pools', 'pools'];
  }

  async create(): Promise<void> {
    const driver = FakeProvisioner.provisionerName;
    await this.#fixture.storageClass('local');
    await this.#fixture.storageClass('pools', { provisioner: driver });
    await this.#fixture.cluster
      .resource(csiDrivers)
      .create({ metadata: { name: driver }, spec: { storageCapacity: true, attachRequired: false } });
    for (const zone of randomZones) await this.#pool(zone, this.#random.pick([5, 10, 20]));
    if (this.hasDrives) await this.#drivesClass();
    for (let left = 2 + this.#random.int(3); left > 0; left -= 1) await this.#node();
  }

  /** Publishes what is left of the pools, as drivers do. */
  async publish(): Promise<void> {
    const { cluster } = this.#fixture;
    const { items } = await cluster.resource(persistentVolumes).list();
    for (const [zone, total] of this.#pools) {
      const used = items
        .filter(({ spec }) => spec?.storageClassName === 'pools')
        .filter(({ spec }) => zoneOf(spec) === zone)
        .reduce((sum, { spec }) => sum + Number.parseInt(String(spec?.capacity?.storage), 10), 0);
      const body = { capacity: `${total - used}Gi` };
      await cluster
        .resource(csiStorageCapacities)
        .patch({ namespace, name: `pool-${zone}` }, { type: 'merge', body });
    }
    await this.#fixture.settle();
  }

  /** A node like another, without pods, that takes none before it is opened. */
  async closedNodeLike(like: string, name: string): Promise<void> {
    const options = this.#nodeOptions.get(like)!;
    this.#nodeOptions.set(name, options);
    await this.#fixture.node(name, { ...options, spec: { unschedulable: true } });
    const { items } = this.hasDrives ? await this.#fixture.cluster.resource(drives).list() : { items: [] };
    for (const { metadata, spec, status } of items)
      if (spec?.nodeName === like)
        await this.drive(`${metadata!.name}-${name}`, name, (status?.capacityBytes ?? 0) / gib);
  }

  async drive(name: string, nodeName: string, sizeGib: number): Promise<void> {
    this.drives.push(name);
    const client = this.#fixture.cluster.resource(drives);
    const filesystemUUID = `00000000-0000-4000-8000-${String(this.drives.length).padStart(12, '0')}`;
    const created = await client.create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name },
      spec: { nodeName, filesystemUUID, volumes: [] },
    });
    const status = { capacityBytes: sizeGib * gib, state: 'Ready', conditions: [mounted] };
    await client.update({ ...created, status }, { subresource: 'status' });
  }

  async #pool(zone: string, total: number): Promise<void> {
    this.#pools.set(zone, total);
    await this.#fixture.cluster.resource(csiStorageCapacities).create({
      metadata: { namespace, name: `pool-${zone}` },
      storageClassName: 'pools',
      capacity: `${total}Gi`,
      nodeTopology: { matchLabels: { [labels.zone]: zone } },
    });
  }

  /** Creates a class of drives, with or without a policy. */
  async #drivesClass(): Promise<void> {
    await this.#fixture.environment.installOwnKinds();
    const policy = this.#random.pick([
      {},
      {},
      { [annotations.growthReserve]: '40%' },
      { [annotations.volumeAntiAffinity]: this.#random.pick(['drives', 'nodes', 'zones']) },
      { [annotations.placement]: this.#random.pick(['pack', 'spread']) },
    ]);
    await this.#fixture.storageClass('drives', {
      metadata: { name: 'drives', annotations: policy },
      provisioner: drivesDriver,
    });
  }

  async #node(): Promise<void> {
    const random = this.#random;
    const name = `n${this.nodes.length + 1}`;
    const options: NodeOptions = {
      labels: { [labels.zone]: random.pick(randomZones) },
      allocatable: { cpu: random.pick(['1', '2', '4']), pods: random.pick(['3', '110', '110']) },
    };
    this.nodes.push(name);
    this.#nodeOptions.set(name, options);
    await this.#fixture.node(name, options);
    // Without any drive, nothing is known about the driver.
    const least = this.hasDrives && this.drives.length === 0 ? 1 : 0;
    for (let at = Math.max(least, random.pick([0, 1, 2])); at > 0; at -= 1) {
      if (this.hasDrives) await this.drive(`${name}-drive-${at}`, name, random.pick([2, 5, 9]));
      else await this.#fixture.disk(`${name}-disk-${at}`, random.pick(['1Gi', '4Gi']), name);
    }
  }
}

/** The provisioner of pools: its volumes can be reached from the zone of their pool. */
export function zonalProvisioner(deletion: (signal: AbortSignal) => Promise<void>): Provisioner {
  const { provisioner } = new FakeProvisioner();
  return {
    ...provisioner,
    plan: ({ asset, selectedNode }) => {
      const zone = selectedNode?.metadata?.labels?.[labels.zone] ?? '';
      const matchExpressions = [{ key: labels.zone, operator: 'In' as const, values: [zone] }];
      const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
      return { kind: 'planned', plan: { asset, nodeAffinity, source: { local: { path: '/mnt' } } } };
    },
    create: async (plan) => ({ kind: 'created', volume: plan }),
    delete: (_, signal) => deletion(signal),
  };
}

/** The zone of a volume of a pool. */
function zoneOf(spec: PersistentVolume['spec']): string {
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.[0]?.values?.[0] ?? '';
}
