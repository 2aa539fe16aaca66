import { provisionerController } from '../../../controllers/provisioner/provisioner-controller.ts';
import { FakeProvisioner } from '../../../controllers/scheduler/testing/fake-provisioner.ts';
import {
  namespace,
  SchedulerFixture,
  schedulingControllers,
} from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { VirtualTimeCluster } from '../../../controllers/testing/virtual-time-cluster.ts';
import type { WhatIfChange } from '../../../engine/what-if/change.ts';
import type { ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolume, Pod, PodSpec } from '../../../kube/api/core.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  nodes,
  persistentVolumes,
  pods,
  priorityClasses,
  replicaSets,
  statefulSets,
} from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { untilAborted } from '../../../runtime/abort.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';

const zones = ['a', 'b'];
/** Longer than any back-off. */
const calmMs = 15_000;
const workloadControllers = ['pv-binder', 'ephemeral', 'node-agent', 'statefulset', 'deployment'];

export const highPriority = { metadata: { name: 'high' }, value: 10 } as const;

/**
 * A small random cluster with workloads, scarce cpu, disks and pools, drawn from one seed. All controllers run that place pods and create them again, with a
 * provisioner whose volumes are on the selected node.
 */
export class RandomWorkloads implements AsyncDisposable {
  readonly fixture: SchedulerFixture;
  /** The pods in the order in which they were created. */
  readonly createdPods: Pod[] = [];
  readonly #random: Random;
  /** By zone, the size of its pool in GiB. */
  readonly #pools = new Map<string, number>();
  readonly #zoneOf = new Map<string, string>();
  #nodes: string[] = [];
  #sets: string[] = [];
  #replicaSets: string[] = [];
  #names = 0;
  #run: Supervisor | undefined;

  private constructor(fixture: SchedulerFixture, random: Random) {
    this.fixture = fixture;
    this.#random = random;
  }

  static async start(seed: string): Promise<RandomWorkloads> {
    const fixture = new SchedulerFixture(await VirtualTimeCluster.startSeeded(seed));
    const random = seededRandom(seed);
    const workloads = new RandomWorkloads(fixture, random);
    await fixture.cluster.resource(priorityClasses).create(highPriority);
    await workloads.#storage();
    for (let left = 2 + random.int(3); left > 0; left -= 1) await workloads.#node();
    workloads.#run = fixture.environment.run([
      ...schedulingControllers({ otherControllers: workloadControllers }),
      provisionerController({ provisioners: [new FakeProvisioner().provisioner] }),
      workloads.#recorder(),
    ]);
    await fixture.settle();
    for (let left = 1 + random.int(3); left > 0; left -= 1) await workloads.#workload();
    await fixture.settle(calmMs);
    await workloads.#publish();
    return workloads;
  }

  /** One or two changes that concern what there is. */
  changes(): readonly WhatIfChange[] {
    const first = this.#change();
    const second = this.#change();
    const isBoth = this.#random.next() < 0.3 && !(first.kind === 'scale' && second.kind === 'scale');
    return isBoth ? [first, second] : [first];
  }

  /** Makes the changes as people do, and lets the controllers work. */
  async apply(changes: readonly WhatIfChange[]): Promise<void> {
    const { cluster } = this.fixture;
    const drained = changes.flatMap((change) => (change.kind === 'drain-node' ? [change.node] : []));
    for (const node of drained) await this.#cordon(node);
    // At the same time: none has been placed before all are there.
    await Promise.all(
      changes.flatMap((change): readonly Promise<unknown>[] => {
        if (change.kind === 'scale') return [this.#scale(change.workload.name, change.replicas)];
        if (change.kind !== 'apply') return [];
        return change.objects.map((object) => cluster.resource(pods).create(object as Pod));
      }),
    );
    await this.fixture.settle(calmMs);
    await this.#evictAll(drained);
    await this.fixture.settle(calmMs);
  }

  /** Without waiting for sweeps: other tests show that they find nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run?.close();
    await this.fixture[Symbol.asyncDispose]();
  }

  #change(): WhatIfChange {
    const random = this.#random;
    const kinds = [
      'drain',
      'drain',
      'drain',
      'apply',
      ...(this.#sets.length > 0 ? ['set', 'set'] : []),
      ...(this.#replicaSets.length > 0 ? ['replicas', 'replicas'] : []),
    ];
    switch (random.pick(kinds)) {
      case 'drain':
        return { kind: 'drain-node', node: random.pick(this.#nodes) };
      case 'set':
        return this.#scaleChange('StatefulSet', random.pick(this.#sets));
      case 'replicas':
        return this.#scaleChange('ReplicaSet', random.pick(this.#replicaSets));
      default:
        return { kind: 'apply', objects: [this.#newPod()] };
    }
  }

  #scaleChange(kind: 'StatefulSet' | 'ReplicaSet', name: string): WhatIfChange {
    return { kind: 'scale', workload: { kind, namespace, name }, replicas: 1 + this.#random.int(5) };
  }

  /** All at once, as kubectl drain does: in the order of the nodes, then by name. */
  async #evictAll(drained: readonly string[]): Promise<void> {
    const { items } = await this.fixture.cluster.resource(pods).list();
    const leaving = items.filter(({ metadata }) => metadata?.ownerReferences?.[0]?.kind !== 'DaemonSet');
    const names = drained.flatMap((node) =>
      leaving
        .filter(({ spec }) => spec?.nodeName === node)
        .map(({ metadata }) => metadata!.name!)
        .sort(),
    );
    await Promise.all([...new Set(names)].map((name) => this.fixture.deletePod(name)));
  }

  async #cordon(name: string): Promise<void> {
    await this.fixture.cluster
      .resource(nodes)
      .patch({ name }, { type: 'merge', body: { spec: { unschedulable: true } } });
  }

  async #scale(name: string, replicas: number): Promise<void> {
    const resource = this.#sets.includes(name) ? statefulSets : replicaSets;
    await this.fixture.cluster
      .resource<ReplicaSet | StatefulSet>(resource as never)
      .patch({ namespace, name }, { type: 'merge', body: { spec: { replicas } } });
  }

  #recorder(): Controller {
    return {
      name: 'recorder',
      run: async ({ informers }, signal) => {
        const stop = informers
          .of(pods)
          .addHandler({ added: (pod) => void this.createdPods.push(pod as Pod) });
        await untilAborted(signal);
        stop();
      },
    };
  }

  async #storage(): Promise<void> {
    const { fixture } = this;
    const driver = FakeProvisioner.provisionerName;
    await fixture.storageClass('local');
    await fixture.storageClass('pools', { provisioner: driver });
    await fixture.cluster
      .resource(csiDrivers)
      .create({ metadata: { name: driver }, spec: { storageCapacity: true, attachRequired: false } });
    for (const zone of zones) {
      const total = this.#random.pick([5, 10, 20]);
      this.#pools.set(zone, total);
      await fixture.cluster.resource(csiStorageCapacities).create({
        metadata: { namespace, name: `pool-${zone}` },
        storageClassName: 'pools',
        capacity: `${total}Gi`,
        nodeTopology: { matchLabels: { [labels.zone]: zone } },
      });
    }
  }

  /** Publishes what is left of the pools, as drivers do. */
  async #publish(): Promise<void> {
    const { cluster } = this.fixture;
    const { items } = await cluster.resource(persistentVolumes).list();
    for (const [zone, total] of this.#pools) {
      const used = items
        .filter(({ spec }) => spec?.storageClassName === 'pools')
        .filter(({ spec }) => this.#zoneOf.get(hostOf(spec)) === zone)
        .reduce((sum, { spec }) => sum + Number.parseInt(String(spec?.capacity?.storage), 10), 0);
      const body = { capacity: `${total - used}Gi` };
      await cluster
        .resource(csiStorageCapacities)
        .patch({ namespace, name: `pool-${zone}` }, { type: 'merge', body });
    }
    await this.fixture.settle();
  }

  async #node(): Promise<void> {
    const name = `n${this.#nodes.length + 1}`;
    this.#nodes.push(name);
    const zone = this.#random.pick(zones);
    this.#zoneOf.set(name, zone);
    await this.fixture.node(name, {
      labels: { [labels.zone]: zone },
      allocatable: { cpu: this.#random.pick(['1', '2', '4']), pods: this.#random.pick(['3', '110', '110']) },
    });
    for (let at = this.#random.pick([0, 1, 2]); at > 0; at -= 1)
      await this.fixture.disk(`${name}-disk-${at}`, this.#random.pick(['1Gi', '4Gi']), name);
  }

  async #workload(): Promise<void> {
    switch (this.#random.pick(['set', 'set', 'replicas', 'replicas', 'pod', 'daemon'])) {
      case 'set':
        return await this.#statefulSet();
      case 'replicas':
        return await this.#replicaSet();
      case 'pod':
        await this.fixture.cluster.resource(pods).create(this.#newPod());
        return;
      default:
        return await this.#daemonPod();
    }
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }

  #newPod(): Pod {
    return { kind: 'Pod', metadata: { namespace, name: this.#name('bare') }, spec: this.#podSpec('bare') };
  }

  async #daemonPod(): Promise<void> {
    const nodeName = this.#random.pick(this.#nodes);
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
    await this.fixture.cluster.resource(pods).create({
      metadata: { namespace, name: this.#name('agent'), ownerReferences: [owner] },
      // No controller creates it again, so it must not be preempted.
      spec: { ...this.#podSpec('agent'), priorityClassName: 'high', nodeName },
    });
  }

  #podSpec(app: string): PodSpec {
    const random = this.#random;
    const term = { labelSelector: { matchLabels: { app } }, topologyKey: labels.hostname };
    const isApart = random.next() < 0.25;
    return {
      schedulerName: 'stowage',
      terminationGracePeriodSeconds: 1,
      ...(random.next() < 0.25 && { priorityClassName: 'high' }),
      ...(random.next() < 0.15 && { nodeSelector: { [labels.zone]: random.pick(zones) } }),
      ...(isApart && {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      }),
      containers: [
        {
          name: 'main',
          image: 'pause',
          resources: { requests: { cpu: random.pick(['100m', '500m', '900m']) } },
        },
      ],
    };
  }

  async #statefulSet(): Promise<void> {
    const random = this.#random;
    const name = this.#name('db');
    this.#sets.push(name);
    const matchLabels = { app: name };
    const claim = {
      metadata: { name: 'data' },
      spec: {
        accessModes: ['ReadWriteOnce' as const],
        storageClassName: random.pick(['local', 'pools', 'pools']),
        resources: { requests: { storage: random.pick(['1Gi', '4Gi']) } },
      },
    };
    await this.fixture.cluster.resource(statefulSets).create({
      metadata: { namespace, name },
      spec: {
        replicas: 1 + random.int(3),
        serviceName: name,
        podManagementPolicy: random.pick(['Parallel', 'Parallel', 'OrderedReady']),
        selector: { matchLabels },
        template: { metadata: { labels: matchLabels }, spec: this.#podSpec(name) },
        volumeClaimTemplates: random.next() < 0.7 ? [claim] : [],
      },
    });
  }

  async #replicaSet(): Promise<void> {
    const name = this.#name('web');
    this.#replicaSets.push(name);
    const matchLabels = { app: name };
    await this.fixture.cluster.resource(replicaSets).create({
      metadata: { namespace, name },
      spec: {
        replicas: 1 + this.#random.int(3),
        selector: { matchLabels },
        template: { metadata: { labels: matchLabels }, spec: this.#podSpec(name) },
      },
    });
  }
}

/** The node of a local volume. */
function hostOf(spec: PersistentVolume['spec']): string {
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.[0]?.values?.[0] ?? '';
}
