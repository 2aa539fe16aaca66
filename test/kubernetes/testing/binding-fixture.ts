import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import { KubernetesCluster } from '../../../src/cluster/kubernetes/client.ts';
import { runControllers } from '../../../src/controllers/run-controllers.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import { namespaces, persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resources.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { realClock } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { Supervisor } from '../../../src/runtime/supervisor.ts';
import type { TestBed } from '../test-bed.ts';
import { fakeProvisionerName } from './fake-provisioner.ts';
import { accessModes, makeClass, makeDisk, makePod } from './run-scheduler.ts';
import { type WriteHandler, WriteProxy } from './write-proxy.ts';

/** The class of provisioned volumes; existing volumes have the fixture's own class. */
export const provisionedClass = 'made';

export interface BindingFixtureOptions {
  readonly bed: TestBed;
  readonly cluster: Cluster;
  /** The name of the namespace, the class of the disks and the scheduler, so that fixtures are independent of each other. */
  readonly name: string;
  /** The node of each disk. */
  readonly disksOn: readonly string[];
}

/** A namespace with disks for it, and a scheduler in this process for its pods, which is connected through a proxy. */
export class BindingFixture implements AsyncDisposable {
  readonly name: string;
  readonly cluster: Cluster;
  readonly #options: BindingFixtureOptions;
  readonly #proxies: WriteProxy[] = [];
  readonly #ends: Promise<void>[] = [];
  #schedulers = 0;
  #stop = async () => {};

  private constructor(options: BindingFixtureOptions) {
    this.name = options.name;
    this.cluster = options.cluster;
    this.#options = options;
  }

  static async prepare(options: BindingFixtureOptions): Promise<BindingFixture> {
    const { cluster, name, disksOn } = options;
    await cluster.resource(namespaces).create({ metadata: { name } });
    await makeClass(cluster, name);
    await Promise.all(
      disksOn.map((node, position) =>
        makeDisk(cluster, `${name}-${position}`, { node, storageClassName: name }),
      ),
    );
    return new BindingFixture(options);
  }

  /** The writes of bindings, by each scheduler in turn. */
  get writes(): string {
    return this.#proxies.map(({ writes }) => writes.join(', ')).join('; then ');
  }

  /** Whether the PV controller has seen all disks. */
  async areDisksAvailable(): Promise<boolean> {
    const { items } = await this.cluster.resource(persistentVolumes).list();
    const disks = items.filter(({ spec }) => spec?.storageClassName === this.name);
    return disks.every(({ status }) => status?.phase === 'Available');
  }

  /** Starts a scheduler; only one runs at a time. */
  async startScheduler(onWrite?: WriteHandler): Promise<void> {
    const proxy = await WriteProxy.open(this.#options.bed.kubeconfig, onWrite);
    this.#proxies.push(proxy);
    const cluster = await this.#connect(proxy);
    const running = runSchedulerFor(this.name, cluster);
    this.#stop = async () => {
      proxy.cut();
      await cluster.close();
      await running.close();
    };
  }

  /** Simulates a crash: nothing that the scheduler sends arrives any more. */
  crash(): void {
    this.#proxies.at(-1)?.cut();
    this.#ends.push(this.#stop());
    this.#stop = async () => {};
  }

  /** Creates a pod with a claim for each class. The claims have the annotations that the PV controller would add. */
  async createPod(pod: string, classes: readonly string[]): Promise<void> {
    const namespace = this.name;
    const claims = classes.map((storageClassName, position) => ({
      name: `${pod}-${position}`,
      storageClassName,
    }));
    for (const { name, storageClassName } of claims) {
      const marks =
        storageClassName === provisionedClass
          ? { [annotations.storageProvisioner]: fakeProvisionerName }
          : {};
      await this.cluster.resource(persistentVolumeClaims).create({
        metadata: { namespace, name, annotations: marks },
        spec: { accessModes, storageClassName, resources: { requests: { storage: '1Gi' } } },
      });
    }
    const volumes = claims.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: name } }));
    await makePod(this.cluster, pod, { namespace, spec: { schedulerName: this.name, volumes } });
  }

  async deletePod(name: string): Promise<void> {
    const key = { namespace: this.name, name };
    await this.cluster.resource(pods).delete(key, { gracePeriodSeconds: 0 });
  }

  async isPlaced(name: string): Promise<boolean> {
    try {
      const { spec } = await this.cluster.resource(pods).get({ namespace: this.name, name });
      return (spec?.nodeName ?? '') !== '';
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.crash();
    await Promise.all(this.#ends);
    for (const proxy of this.#proxies) proxy.close();
  }

  async #connect(proxy: WriteProxy): Promise<KubernetesCluster> {
    this.#schedulers += 1;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'proxy',
      clusters: [{ name: 'proxy', cluster: { server: proxy.url } }],
      users: [{ name: 'proxy', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } }],
    };
    const kubeconfig = join(this.#options.bed.folder, 'data', `proxy-${this.name}-${this.#schedulers}`);
    writeFileSync(kubeconfig, JSON.stringify(config));
    return await KubernetesCluster.connect({
      kubeconfig,
      clock: realClock,
      random: systemRandom,
      env: {},
      rateLimit: false,
    });
  }
}

function runSchedulerFor(schedulerName: string, cluster: Cluster): Supervisor {
  const common = { clock: realClock, random: systemRandom };
  const supervisor = new Supervisor({ ...common, onCrash: ({ name, error }) => console.error(name, error) });
  runControllers({
    ...common,
    names: ['scheduler'],
    schedulerNames: [schedulerName],
    cluster,
    supervisor,
    resources: [],
    // Errors are expected when the proxy is cut; the tests check the final state.
    report: () => {},
    onError: () => {},
    instance: schedulerName,
    ids: systemIds,
    metrics: new Metrics(),
  });
  return supervisor;
}
