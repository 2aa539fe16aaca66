/**
 * How fast volumes and claims are brought together: the binder on an embedded cluster in this process, in memory, from its start
 * until the last claim says Bound. Server, informers and binder share one thread.
 */
import type { Cluster } from '../../src/cluster/cluster.ts';
import { bootstrap } from '../../src/cluster/embedded/bootstrap.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded/embedded-cluster.ts';
import { servedCatalogue } from '../../src/cluster/embedded/kinds/served-kinds.ts';
import { EmbeddedRegistry } from '../../src/cluster/embedded/registry/embedded-registry.ts';
import { MemoryStore } from '../../src/cluster/embedded/store/memory-store.ts';
import { EventRecorder } from '../../src/cluster/event-recorder.ts';
import {
  events,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '../../src/cluster/resources.ts';
import type { Controller } from '../../src/controllers/controller.ts';
import { SharedInformers } from '../../src/controllers/shared-informers.ts';
import { pvBinder } from '../../src/controllers/volumes/pv-binder/pv-binder.ts';
import { Census } from '../../src/controllers/workloads/census.ts';
import type { ObjectReference } from '../../src/kube/meta.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { type Benchmark, type Row, rounded } from '../harness.ts';

const pairs = 10_000;
const releasedVolumes = 50_000;
const namespace = 'default';
const gib = 'Gi';

export const volumes: Benchmark = {
  name: 'volumes',
  summary:
    'claims bound per second: pairs that name each other, claims the scheduler chose for, and free choice',
  async run(progress) {
    const rows: Row[] = [];
    for (const scenario of scenarios) {
      progress(`${scenario.name}: ${pairs} claims`);
      rows.push(await measure(scenario));
    }
    return rows;
  },
};

interface Scenario {
  readonly name: string;
  prepare(cluster: Cluster): Promise<void>;
}

const scenarios: readonly Scenario[] = [
  {
    name: 'volumes that name their claims',
    prepare: (cluster) => makePairs(cluster, 'immediate', ({ name }) => ({ namespace, name })),
  },
  {
    name: 'delayed claims, volumes chosen by the scheduler',
    prepare: (cluster) => makePairs(cluster, 'delayed', ({ name, uid }) => ({ namespace, name, uid })),
  },
  {
    name: `free choice, ${releasedVolumes} released volumes beside`,
    prepare: async (cluster) => {
      const gone = { namespace, name: 'gone', uid: 'gone' };
      for (let at = 0; at < releasedVolumes; at++) await makeVolume(cluster, `old-${at}`, gone, 'Released');
      await makePairs(cluster, 'immediate', () => undefined);
    },
  },
];

type Reference = Pick<ObjectReference, 'namespace' | 'name' | 'uid'>;

async function makePairs(
  cluster: Cluster,
  className: 'immediate' | 'delayed',
  claimRefOf: (claim: { readonly name: string; readonly uid: string }) => Reference | undefined,
): Promise<void> {
  const volumeBindingMode = className === 'delayed' ? 'WaitForFirstConsumer' : 'Immediate';
  const metadata = { name: className };
  const provisioner = 'kubernetes.io/no-provisioner';
  await cluster.resource(storageClasses).create({ metadata, provisioner, volumeBindingMode });
  for (let at = 0; at < pairs; at++) {
    const name = `claim-${at}`;
    const claim = await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: className,
        resources: { requests: { storage: `${sizeAt(at)}${gib}` } },
      },
    });
    const claimRef = claimRefOf({ name, uid: claim.metadata?.uid ?? '' });
    await makeVolume(cluster, `volume-${at}`, claimRef, 'Available', { className, size: sizeAt(at) });
  }
}

function sizeAt(at: number): number {
  return 1 + (at % 100);
}

async function makeVolume(
  cluster: Cluster,
  name: string,
  claimRef: Reference | undefined,
  phase: 'Available' | 'Released',
  { className = 'immediate', size = 10 } = {},
): Promise<void> {
  const client = cluster.resource(persistentVolumes);
  await client.create({
    metadata: { name },
    spec: {
      capacity: { storage: `${size}${gib}` },
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      local: { path: '/mnt/disk' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'kubernetes.io/hostname', operator: 'In', values: [`node-${name.slice(-3)}`] },
              ],
            },
          ],
        },
      },
      ...(claimRef && { claimRef }),
    },
  });
  await client.patch({ name }, { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
}

async function measure({ name, prepare }: Scenario): Promise<Row> {
  const registry = new EmbeddedRegistry({
    store: new MemoryStore(),
    kinds: servedCatalogue(),
    clock: realClock,
    ids: systemIds,
  });
  await bootstrap(registry);
  const cluster = new EmbeddedCluster({ registry, manager: 'bench' });
  await prepare(cluster);
  const random = seededRandom('bench');
  await using supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
  const start = performance.now();
  const cpu = process.cpuUsage();
  const troubles = run(pvBinder, cluster, supervisor);
  const ms = (await untilAllBound(cluster)) - start;
  return {
    work: 'bind',
    what: name,
    claims: pairs,
    ms: Math.round(ms),
    cpuMs: Math.round(process.cpuUsage(cpu).user / 1_000),
    claimsPerSecond: rounded((pairs / ms) * 1_000),
    troubles: troubles.length,
  };
}

function run(controller: Controller, cluster: Cluster, supervisor: Supervisor): readonly unknown[] {
  const random = seededRandom('bench');
  const common = { cluster, clock: realClock, random, supervisor, ids: systemIds };
  const troubles: unknown[] = [];
  const onError = (error: unknown) => troubles.push(error);
  const recorder = new EventRecorder({
    ...common,
    events: cluster.resource(events),
    reportingController: controller.name,
    reportingInstance: 'bench',
  });
  const context = {
    ...common,
    resources: [],
    informers: new SharedInformers({ ...common, onError }),
    census: new Census({ ...common, resources: [], onError }),
    events: recorder,
    report: onError,
  };
  supervisor.start(controller.name, (signal) => controller.run(context, signal));
  return troubles;
}

async function untilAllBound(cluster: Cluster): Promise<number> {
  const client = cluster.resource(persistentVolumeClaims);
  const stop = new AbortController();
  const bound = new Set<string>();
  for await (const event of client.watch({ signal: stop.signal, sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const { metadata, status } = event.object;
    if (status?.phase === 'Bound') bound.add(metadata?.name ?? '');
    if (bound.size === pairs) break;
  }
  stop.abort();
  return performance.now();
}
