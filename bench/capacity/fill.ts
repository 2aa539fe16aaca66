/**
 * Pods that fill every node of a driver to the last byte: the scheduler must choose by capacity reports that change with every volume. The whole
 * control plane runs in this process, in memory; the driver accounts for every byte and refuses what does not fit.
 */
import type { Cluster } from '../../src/cluster/cluster.ts';
import { MeteredCluster } from '../../src/cluster/metered-cluster.ts';
import { allControllers } from '../../src/controllers/all-controllers.ts';
import { EnforcingDriver } from '../../src/csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../src/csi/testing/joining-drivers.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  pods,
  storageClasses,
} from '../../src/kube/resources.ts';
import { labels } from '../../src/kube/well-known.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { type Row, rounded } from '../harness.ts';
import { inParallel } from '../in-parallel.ts';
import { emptyCluster, runInProcess } from '../in-process.ts';

const namespace = 'default';
const className = 'bench';
const gib = 2n ** 30n;
const running = ['scheduler', 'pv-binder', 'provisioner', 'capacity'];

export interface FillWork {
  readonly nodes: number;
  /** The number of pods, each with a volume of 1 GiB; together they fill all nodes. */
  readonly pods: number;
  /** The time after which a run without progress stops. */
  readonly capMs: number;
}

export async function fill(work: FillWork, progress: (text: string) => void): Promise<Row> {
  const names = Array.from({ length: work.nodes }, (_, at) => `node-${at}`);
  const each = BigInt(work.pods / work.nodes) * gib;
  const driver = new EnforcingDriver({ pools: Object.fromEntries(names.map((name) => [name, each])) });
  const creations = countCreations(driver);
  const cluster = await emptyCluster();
  await seed(cluster, driver, names);
  const metrics = new Metrics();
  await using supervisor = new Supervisor({
    clock: realClock,
    random: seededRandom('bench'),
    onCrash: () => {},
  });
  const metered = new MeteredCluster({ cluster, metrics, clock: realClock });
  const controllers = allControllers({ csiDrivers: await JoiningDrivers.of(driver) }).filter(({ name }) =>
    running.includes(name),
  );
  const { errors } = runInProcess(metered, supervisor, controllers);
  await untilPublished(cluster, work.nodes);
  const before = writesOf(metrics);
  const start = performance.now();
  const done = untilDone(cluster, work, progress);
  await makePods(cluster, work.pods);
  const { placed, bound } = await done;
  const ms = performance.now() - start;
  const writes = writesOf(metrics);
  const perPod = (total: number) => rounded(total / work.pods);
  return {
    work: 'fill',
    nodes: work.nodes,
    pods: work.pods,
    failedCreateVolume: creations.failed,
    createVolume: creations.all,
    placed,
    bound,
    seconds: rounded(ms / 1000),
    podsPerSecond: rounded((placed / ms) * 1000),
    writesPerPod: perPod(writes.all - before.all),
    ofEvents: perPod(writes.events - before.events),
    ofCapacity: perPod(writes.capacity - before.capacity),
    getCapacity: driver.callsOf('GetCapacity').length,
    errors: errors.length,
  };
}

/** Only refusals of the driver count, not calls that the bench never makes fail. */
function countCreations(driver: EnforcingDriver): { all: number; readonly failed: number } {
  const counted = { all: 0, made: 0 };
  driver.beforeCall = (method) => {
    if (method === 'CreateVolume') counted.all += 1;
  };
  driver.afterCall = (method) => {
    if (method === 'CreateVolume') counted.made += 1;
  };
  return {
    get all() {
      return counted.all;
    },
    get failed() {
      return counted.all - counted.made;
    },
  };
}

async function seed(cluster: Cluster, driver: EnforcingDriver, names: readonly string[]): Promise<void> {
  const { name: provisioner, topologyKey } = driver;
  const allocatable = { cpu: '64', memory: '256Gi', pods: '1000' };
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: provisioner }, spec: { storageCapacity: true } });
  await inParallel(names.length, async (at) => {
    const name = names[at]!;
    await cluster.resource(nodes).create({
      metadata: { name, labels: { [labels.hostname]: name, [topologyKey]: name } },
      status: { allocatable, capacity: allocatable },
    });
    await cluster.resource(csiNodes).create({
      metadata: { name },
      spec: { drivers: [{ name: provisioner, nodeID: name, topologyKeys: [topologyKey] }] },
    });
  });
  const binding = { provisioner, volumeBindingMode: 'WaitForFirstConsumer' } as const;
  await cluster.resource(storageClasses).create({ metadata: { name: className }, ...binding });
}

async function makePods(cluster: Cluster, count: number): Promise<void> {
  await inParallel(count, async (at) => {
    const name = `pod-${at}`;
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: className,
        resources: { requests: { storage: '1Gi' } },
      },
    });
    await cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: {
        schedulerName: 'stowage',
        containers: [{ name: 'main', image: 'pause' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
      },
    });
  });
}

/** Every node has a report before the first pod is created. */
async function untilPublished(cluster: Cluster, count: number): Promise<void> {
  const signal = new AbortController().signal;
  while ((await cluster.resource(csiStorageCapacities).list()).items.length < count)
    await realClock.sleep(50, signal);
}

/** Waits until every pod has its node and every claim its volume, or nothing has changed for too long. */
async function untilDone(
  cluster: Cluster,
  { pods: count, capMs }: FillWork,
  progress: (text: string) => void,
): Promise<{ readonly placed: number; readonly bound: number }> {
  const signal = new AbortController().signal;
  let last = { placed: 0, bound: 0 };
  let changedAtMs = performance.now();
  for (;;) {
    await realClock.sleep(count < 1000 ? 100 : 2000, signal);
    const state = await stateOf(cluster);
    if (state.placed !== last.placed || state.bound !== last.bound) {
      changedAtMs = performance.now();
      progress(`fill: ${state.placed} of ${count} pods placed, ${state.bound} claims bound`);
    }
    last = state;
    const isDone = state.placed === count && state.bound === count;
    if (isDone || performance.now() - changedAtMs > capMs) return state;
  }
}

async function stateOf(cluster: Cluster): Promise<{ readonly placed: number; readonly bound: number }> {
  const [placed, bound] = await Promise.all([
    cluster.resource(pods).list({ namespace }),
    cluster.resource(persistentVolumeClaims).list({ namespace }),
  ]);
  return {
    placed: placed.items.filter(({ spec }) => (spec?.nodeName ?? '') !== '').length,
    bound: bound.items.filter(({ status }) => status?.phase === 'Bound').length,
  };
}

/** Writes of the controllers so far: all, those of Events, and those of published capacity. */
function writesOf(metrics: Metrics): {
  readonly all: number;
  readonly events: number;
  readonly capacity: number;
} {
  const line =
    /^stowage_api_requests_total\{verb="(create|update|patch|delete)",resource="([^"]+)",code="2\d\d"\} (\d+)$/gm;
  const sums = { all: 0, events: 0, capacity: 0 };
  for (const [, , resource = '', count] of metrics.render().matchAll(line)) {
    sums.all += Number(count);
    if (resource.startsWith('events')) sums.events += Number(count);
    if (/^(csistoragecapacities|drivercapacities)/.test(resource)) sums.capacity += Number(count);
  }
  return sums;
}
