import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { RealTimeCluster } from '../../controllers/testing/real-time-cluster.ts';
import type { Node, Pod } from '../../kube/api/core.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../kube/resources.ts';
import { labels, noProvisioner } from '../../kube/well-known.ts';
import { VolumeBinding, type VolumeBindingOptions } from '../volume-binding.ts';

export const namespace = 'default';

/** The library with an in-memory cluster, whose local disks the tests create, and with the PV controller. */
export class BindingLibraryFixture implements AsyncDisposable {
  readonly binding: VolumeBinding;
  readonly #environment: RealTimeCluster;
  /** The library's own connection to the cluster. */
  readonly connection: InterceptedCluster;

  private constructor(environment: RealTimeCluster, connection: InterceptedCluster, binding: VolumeBinding) {
    this.#environment = environment;
    this.connection = connection;
    this.binding = binding;
  }

  static async start(options: VolumeBindingOptions = {}): Promise<BindingLibraryFixture> {
    const environment = await RealTimeCluster.start('pv-binder');
    await environment.cluster.resource(storageClasses).create({
      metadata: { name: 'local' },
      provisioner: noProvisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const connection = new InterceptedCluster(environment.cluster);
    return new BindingLibraryFixture(environment, connection, await VolumeBinding.on(connection, options));
  }

  get cluster(): Cluster {
    return this.#environment.cluster;
  }

  async node(name: string, spec: Node['spec'] = {}): Promise<void> {
    const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } };
    await this.cluster
      .resource(nodes)
      .create({ metadata: { name, labels: { [labels.hostname]: name } }, spec, status });
    await this.observed(() => this.binding.get('Node', name) !== undefined);
  }

  async disk(name: string, storage: string, node: string): Promise<void> {
    const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [node] }] as const;
    await this.cluster.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: `/mnt/${name}` },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
    await this.observed(() => this.binding.get('PersistentVolume', name)?.status?.phase === 'Available');
  }

  /** Creates a pod with one claim of each size. */
  async pod(name: string, ...sizes: readonly string[]): Promise<Pod> {
    const { cluster } = this;
    const claimNames = sizes.map((_, at) => `${name}-${at}`);
    for (const [at, storage] of sizes.entries()) {
      await cluster.resource(persistentVolumeClaims).create({
        metadata: { namespace, name: claimNames[at]! },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'local',
          resources: { requests: { storage } },
        },
      });
    }
    const pod = await cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: {
        containers: [{ name: 'main', image: 'pause' }],
        volumes: claimNames.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      },
    });
    await this.observed(() => this.binding.get('Pod', `${namespace}/${name}`) !== undefined);
    for (const claimName of claimNames)
      await this.observed(
        () => this.binding.get('PersistentVolumeClaim', `${namespace}/${claimName}`) !== undefined,
      );
    return pod;
  }

  /** `NODE VOLUME VOLUME`, as the API server has them; `-` for none. */
  async placement(name: string): Promise<string> {
    const { cluster } = this;
    const { spec } = await cluster.resource(pods).get({ namespace, name });
    const { items } = await cluster.resource(persistentVolumeClaims).list({ namespace });
    const own = items.filter(({ metadata }) => metadata?.name?.startsWith(`${name}-`));
    return [spec?.nodeName || '-', ...own.map((claim) => claim.spec?.volumeName || '-')].join(' ');
  }

  /** Waits until the library's cache satisfies the condition. */
  async observed(condition: () => boolean): Promise<void> {
    const never = new AbortController().signal;
    while (!condition()) await this.binding.nextChange(never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.binding.close();
    await this.#environment[Symbol.asyncDispose]();
  }
}
