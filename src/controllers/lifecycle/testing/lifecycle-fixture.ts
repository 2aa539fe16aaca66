import { expect } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim, PodSpec } from '../../../kube/api/core.ts';
import type { ObjectMeta } from '../../../kube/api/meta.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../kube/resources.ts';
import { annotations, labels, markerValue } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { allControllers } from '../../all-controllers.ts';
import { affinityLines, classOf, nodeOf } from '../../provisioner/testing/objects.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

export const namespace = 'default';

/** Longer than the grace of our pods, and than the first few retries. */
const settleMs = 5000;

/** The resources of each node: enough for all pods. */
const size = { cpu: '8', memory: '32Gi', pods: '110' };

interface LifecycleFixtureOptions {
  /** Each has the format of `nodeOf`. */
  readonly nodes?: readonly string[];
  readonly classes?: readonly StorageClass[];
  readonly controllers?: readonly Controller[];
}

/** All controllers, with a scheduler for pods that name none. */
export function controllersWithScheduler(): readonly Controller[] {
  return allControllers({ schedulerNames: ['default-scheduler'] });
}

/** A cluster with all controllers and an idle scheduler: the test does its writes, or starts {@link controllersWithScheduler}. */
export class LifecycleFixture implements AsyncDisposable {
  readonly virtualTime: VirtualTimeCluster;
  readonly cluster: Cluster;
  #run: Supervisor | undefined;

  constructor(virtualTime: VirtualTimeCluster) {
    this.virtualTime = virtualTime;
    this.cluster = virtualTime.cluster;
  }

  static async start(options: LifecycleFixtureOptions = {}): Promise<LifecycleFixture> {
    const fixture = new LifecycleFixture(await VirtualTimeCluster.start());
    await fixture.seed(options);
    fixture.resume(options.controllers);
    await fixture.settle();
    return fixture;
  }

  resume(controllers: readonly Controller[] = allControllers()): void {
    this.#run = this.virtualTime.run(controllers);
  }

  /** Only the test acts until `resume`. */
  async pause(): Promise<void> {
    await this.#run?.close();
  }

  async seed({
    nodes: lines = ['a1 a r1', 'a2 a r1', 'b1 b r1'],
    classes = [classOf()],
  }: LifecycleFixtureOptions) {
    const status = { allocatable: size, capacity: size };
    for (const line of lines) await this.cluster.resource(nodes).create({ ...nodeOf(line), status });
    for (const storageClass of classes) await this.cluster.resource(storageClasses).create(storageClass);
  }

  async settle(ms = settleMs): Promise<void> {
    await this.virtualTime.settle(ms);
  }

  /** A claim as a user creates it. */
  async makeClaim(name = 'data', storageClassName = 'standard'): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: {
        storageClassName,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    });
  }

  async makePod(name: string, claims: readonly string[], spec: PodSpec = {}): Promise<void> {
    await this.cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'main', image: 'pause' }],
        volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
        ...spec,
      },
    });
  }

  /** A hand-made disk of one node. */
  async makeLocalVolume(name: string, host: string, storageClassName = 'local'): Promise<void> {
    const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [host] }] as const;
    await this.cluster.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName,
        local: { path: `/mnt/${name}` },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  }

  /** As the scheduler: selects the node for which the volume will be provisioned. */
  async selectNode(claim: string, node: string): Promise<void> {
    const { uid, resourceVersion } = (await this.claim(claim)).metadata ?? {};
    const metadata = { uid, resourceVersion, annotations: { [annotations.selectedNode]: node } };
    await this.#patchClaim(claim, { metadata });
  }

  /** As the scheduler: reserves the volume for the claim. */
  async reserve(volume: string, claim: string): Promise<ObjectMeta> {
    const { uid } = (await this.claim(claim)).metadata ?? {};
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim, uid };
    const { resourceVersion } = (await this.volume(volume)).metadata ?? {};
    const metadata = { resourceVersion, annotations: { [annotations.boundByController]: markerValue } };
    return (await this.patchVolume(volume, { metadata, spec: { claimRef } })).metadata ?? {};
  }

  /** As the scheduler: binds the pod to the node. */
  async bindPod(name: string, node: string): Promise<void> {
    const target = { kind: 'Node', name: node };
    const binding = { metadata: { namespace, name }, target };
    await this.cluster.resource(pods).post({ namespace, name }, 'binding', binding);
  }

  async annotateClaim(name: string, changes: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#patchClaim(name, { metadata: { annotations: changes } });
  }

  async grow(name: string, storage: string): Promise<void> {
    await this.#patchClaim(name, { spec: { resources: { requests: { storage } } } });
  }

  async deletePod(name: string): Promise<void> {
    await this.cluster.resource(pods).delete({ namespace, name });
  }

  async deleteClaim(name: string): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).delete({ namespace, name });
  }

  async claim(name = 'data'): Promise<PersistentVolumeClaim> {
    return await this.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  }

  async volume(name: string): Promise<PersistentVolume> {
    return await this.cluster.resource(persistentVolumes).get({ name });
  }

  async patchVolume(name: string, body: object): Promise<PersistentVolume> {
    return await this.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
  }

  async selectedNode(name = 'data'): Promise<string | undefined> {
    return (await this.claim(name)).metadata?.annotations?.[annotations.selectedNode];
  }

  async mark(name = 'data'): Promise<string | undefined> {
    return (await this.claim(name)).metadata?.annotations?.['stowage.dev/mounted'];
  }

  /** The terms of the volume's node affinity. */
  async placesOf(name = 'data'): Promise<readonly string[]> {
    const { volumeName = '' } = (await this.claim(name)).spec ?? {};
    return affinityLines((await this.volume(volumeName)).spec?.nodeAffinity);
  }

  /** `claim data Bound`, `pod web Running on a1`, `volume for data Bound` or `volume disk Available`. */
  async lines(): Promise<readonly string[]> {
    const [claims, volumes, all] = await Promise.all([
      this.cluster.resource(persistentVolumeClaims).list(),
      this.cluster.resource(persistentVolumes).list(),
      this.cluster.resource(pods).list(),
    ]);
    return [
      ...claims.items.map(({ metadata, status }) => `claim ${metadata?.name} ${status?.phase}`),
      ...all.items.map(({ metadata, spec, status }) => {
        const place = spec?.nodeName === undefined ? '' : ` on ${spec.nodeName}`;
        return `pod ${metadata?.name} ${status?.phase}${place}`;
      }),
      ...volumes.items.map(volumeLine),
    ].sort();
  }

  /** The Events of a claim or pod, as `REASON: NOTE`. */
  async eventsOf(name: string): Promise<readonly string[]> {
    const lines = (await this.virtualTime.eventLines()).map((line) => line.split(` ${name}: `));
    return lines.flatMap(([reason, note]) => (note === undefined ? [] : [`${reason}: ${note}`]));
  }

  /** Only conflicts are allowed, which controllers retry. */
  expectNoErrors(): void {
    const others = this.virtualTime.errors.filter(({ error }) => !/modified|conflict/i.test(String(error)));
    expect(others).toEqual([]);
  }

  async #patchClaim(name: string, body: object): Promise<void> {
    const client = this.cluster.resource(persistentVolumeClaims);
    await client.patch({ namespace, name }, { type: 'merge', body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.virtualTime[Symbol.asyncDispose]();
  }
}

function volumeLine({ metadata, spec, status }: PersistentVolume): string {
  const name = metadata?.name?.startsWith('pvc-') ? '' : ` ${metadata?.name}`;
  const owner = spec?.claimRef === undefined ? '' : ` for ${spec.claimRef.name}`;
  return `volume${name}${owner} ${status?.phase}`;
}
