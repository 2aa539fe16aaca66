import type { Cluster } from '../../../cluster/cluster.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { getCondition } from '../../../kube/conditions.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../kube/resources.ts';
import { annotations, labels, noProvisioner } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { allControllers } from '../../all-controllers.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { type SchedulerControllerSettings, schedulerController } from '../scheduler.ts';

export const namespace = 'default';

export interface SchedulerFixtureOptions {
  /** Names of nodes, each with a hostname label and ample resources. */
  readonly nodes?: readonly string[];
  readonly scheduler?: SchedulerControllerSettings;
  /** Names of the controllers that run in addition to the scheduler. */
  readonly otherControllers?: readonly string[];
  /** Further controllers, such as a fake driver. */
  readonly extraControllers?: readonly Controller[];
}

const otherControllersDefault = ['pv-binder', 'provisioner', 'ephemeral', 'protection', 'node-agent'];

/** A small in-memory cluster with the scheduler, under virtual time. */
export class SchedulerFixture implements AsyncDisposable {
  readonly environment: VirtualTimeCluster;
  readonly cluster: Cluster;
  #run: Supervisor | undefined;

  constructor(environment: VirtualTimeCluster) {
    this.environment = environment;
    this.cluster = environment.cluster;
  }

  static async start(options: SchedulerFixtureOptions = {}): Promise<SchedulerFixture> {
    const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
    await fixture.seed(options.nodes);
    fixture.startControllers(options);
    await fixture.settle();
    return fixture;
  }

  /** Creates nodes, and the class `local`, whose volumes the tests create. */
  async seed(names: readonly string[] = ['n1', 'n2', 'n3']): Promise<void> {
    for (const name of names) await this.node(name);
    await this.storageClass('local');
  }

  startControllers(options: SchedulerFixtureOptions = {}): Supervisor {
    this.#run = this.environment.run(schedulingControllers(options));
    return this.#run;
  }

  async stopControllers(): Promise<void> {
    await this.#run?.close();
  }

  async settle(ms?: number): Promise<void> {
    await this.environment.settle(ms);
  }

  // ── Objects ──

  async node(
    name: string,
    { labels: more = {}, allocatable = {}, spec = {} }: NodeOptions = {},
  ): Promise<void> {
    const resources = { cpu: '8', memory: '32Gi', pods: '110', ...allocatable };
    const node: Node = {
      metadata: { name, labels: { [labels.hostname]: name, ...more } },
      spec,
      status: { allocatable: resources, capacity: resources },
    };
    await this.cluster.resource(nodes).create(node);
  }

  async storageClass(name: string, rest: Partial<StorageClass> = {}): Promise<void> {
    await this.cluster.resource(storageClasses).create({
      metadata: { name },
      provisioner: noProvisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
      ...rest,
    });
  }

  /** A local disk of one node. */
  async disk(
    name: string,
    size: string,
    nodeName: string,
    spec: PersistentVolume['spec'] = {},
  ): Promise<void> {
    const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [nodeName] }] as const;
    await this.cluster.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        capacity: { storage: size },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: `/mnt/${name}` },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
        ...spec,
      },
    });
  }

  async claim(name: string, size: string, spec: PersistentVolumeClaim['spec'] = {}): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        resources: { requests: { storage: size } },
        ...spec,
      },
    });
  }

  /** A pod whose containers take all of its grace period to end, one second by default. */
  async pod(name: string, claims: readonly string[] = [], rest: PodOptions = {}): Promise<void> {
    const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    const { terminationGracePeriodSeconds = 1 } = rest.spec ?? {};
    const terminationSeconds = { [annotations.terminationSeconds]: String(terminationGracePeriodSeconds) };
    await this.cluster.resource(pods).create({
      metadata: {
        namespace,
        name,
        ...rest.metadata,
        annotations: { ...terminationSeconds, ...rest.metadata?.annotations },
      },
      spec: {
        schedulerName: 'stowage',
        terminationGracePeriodSeconds,
        containers: [{ name: 'main', image: 'pause' }],
        volumes,
        ...rest.spec,
      },
    });
  }

  async deletePod(name: string): Promise<void> {
    await this.cluster.resource(pods).delete({ namespace, name });
  }

  // ── Results ──

  async getPod(name: string): Promise<Pod> {
    return await this.cluster.resource(pods).get({ namespace, name });
  }

  /** The pod's node, or why it has none. */
  async place(name: string): Promise<string> {
    const { spec, status } = await this.getPod(name);
    if ((spec?.nodeName ?? '') !== '') return spec!.nodeName!;
    return getCondition(status?.conditions, 'PodScheduled')?.message ?? 'pending';
  }

  /** `pod web on n1`, `claim data has d1`, `disk d1 Bound to data`, sorted. */
  async summary(): Promise<readonly string[]> {
    const [claims, volumes, all] = await Promise.all([
      this.cluster.resource(persistentVolumeClaims).list(),
      this.cluster.resource(persistentVolumes).list(),
      this.cluster.resource(pods).list(),
    ]);
    return [
      ...all.items.map(({ metadata, spec }) => `pod ${metadata?.name} on ${spec?.nodeName ?? 'no node'}`),
      ...claims.items.map(
        ({ metadata, spec }) => `claim ${metadata?.name} has ${spec?.volumeName ?? 'nothing'}`,
      ),
      ...volumes.items.map(({ metadata, spec, status }) => {
        return `disk ${metadata?.name} ${status?.phase} to ${spec?.claimRef?.name ?? 'no claim'}`;
      }),
    ].sort();
  }

  /** The events about an object, as `REASON: NOTE`. */
  async eventsOf(name: string): Promise<readonly string[]> {
    const lines = (await this.environment.eventLines()).map((line) => line.split(` ${name}: `));
    return lines.flatMap(([reason, note]) => (note === undefined ? [] : [`${reason}: ${note}`]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.environment[Symbol.asyncDispose]();
  }
}

export interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly spec?: Node['spec'];
}

export interface PodOptions {
  readonly metadata?: Pod['metadata'];
  readonly spec?: PodSpec;
}

/** The scheduler, and the other controllers that the options name. */
export function schedulingControllers({
  scheduler,
  otherControllers: beside = otherControllersDefault,
  extraControllers: controllers = [],
}: SchedulerFixtureOptions): readonly Controller[] {
  const others = allControllers().filter(({ name }) => name !== 'scheduler' && beside.includes(name));
  return [schedulerController(scheduler), ...others, ...controllers];
}
