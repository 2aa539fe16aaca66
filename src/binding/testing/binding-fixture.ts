import { InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
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

/** The library on a cluster in memory: nodes, disks of theirs made by hand, and the PV controller. */
export class BindingLibraryFixture implements AsyncDisposable {
  readonly binding: VolumeBinding;
  readonly fixture: RealTimeCluster;
  /** The library's own way to the cluster. */
  readonly network: InterceptedCluster;

  private constructor(fixture: RealTimeCluster, network: InterceptedCluster, binding: VolumeBinding) {
    this.fixture = fixture;
    this.network = network;
    this.binding = binding;
  }

  static async start(options: VolumeBindingOptions = {}): Promise<BindingLibraryFixture> {
    const fixture = await RealTimeCluster.start('pv-binder');
    await fixture.cluster.resource(storageClasses).create({
      metadata: { name: 'local' },
      provisioner: noProvisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const network = new InterceptedCluster(fixture.cluster);
    return new BindingLibraryFixture(fixture, network, await VolumeBinding.on(network, options));
  }

  async node(name: string, spec: Node['spec'] = {}): Promise<void> {
    const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } };
    await this.fixture.cluster
      .resource(nodes)
      .create({ metadata: { name, labels: { [labels.hostname]: name } }, spec, status });
    await this.known(() => this.binding.get('Node', name) !== undefined);
  }

  async disk(name: string, storage: string, node: string): Promise<void> {
    const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [node] }] as const;
    await this.fixture.cluster.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: `/mnt/${name}` },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
    await this.known(() => this.binding.get('PersistentVolume', name)?.status?.phase === 'Available');
  }

  /** A pod with a claim for each of the sizes. */
  async pod(name: string, ...sizes: readonly string[]): Promise<Pod> {
    const { cluster } = this.fixture;
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
    await this.known(() => this.binding.get('Pod', `${namespace}/${name}`) !== undefined);
    for (const claimName of claimNames)
      await this.known(
        () => this.binding.get('PersistentVolumeClaim', `${namespace}/${claimName}`) !== undefined,
      );
    return pod;
  }

  /** `NODE volume volume`: what the API server says. */
  async fate(name: string): Promise<string> {
    const { cluster } = this.fixture;
    const { spec } = await cluster.resource(pods).get({ namespace, name });
    const { items } = await cluster.resource(persistentVolumeClaims).list({ namespace });
    const own = items.filter(({ metadata }) => metadata?.name?.startsWith(`${name}-`));
    return [spec?.nodeName || '-', ...own.map((claim) => claim.spec?.volumeName || '-')].join(' ');
  }

  /** Waits until the library knows. */
  async known(isSo: () => boolean): Promise<void> {
    const never = new AbortController().signal;
    while (!isSo()) await this.binding.nextChange(never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.binding.close();
    await this.fixture[Symbol.asyncDispose]();
  }
}
