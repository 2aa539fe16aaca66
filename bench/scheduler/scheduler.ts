/**
 * The rate at which pods get their nodes and volumes in an embedded cluster in this process, in memory: server, informers, PV controller
 * and scheduler share one thread. Measured from the creation of the first pod until the last one has its node.
 */
import { schedulerController } from '../../src/controllers/scheduler/scheduler.ts';
import { pvBinderController } from '../../src/controllers/volumes/pv-binder/pv-binder.ts';
import { defaultRules } from '../../src/engine/rules/default-rules.ts';
import { volumeRules } from '../../src/engine/rules/volume-rules.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { type Benchmark, type Row, rounded } from '../harness.ts';
import { emptyCluster, runInProcess } from '../in-process.ts';
import { makePods, provision, type SchedulingWorkload, seed, untilPlaced } from './workloads.ts';

const plain = { name: 'plain pods', volumes: 0, pods: 5_000, wants: 'nothing' } as const;
const local = { name: 'local volumes', pods: 500, wants: 'a local volume' } as const;
const pools = { name: 'capacity pools', volumes: 0, pods: 500, wants: 'a new volume' } as const;

const workloads: readonly SchedulingWorkload[] = [
  { ...plain, nodes: 1_000 },
  { ...plain, nodes: 5_000 },
  { ...local, nodes: 100, volumes: 500 },
  { ...local, nodes: 1_000, volumes: 10_000 },
  { ...local, nodes: 5_000, volumes: 50_000 },
  { ...pools, nodes: 100 },
  { ...pools, nodes: 1_000 },
  { ...pools, nodes: 5_000 },
];

const withoutVolumeRules = defaultRules.filter((rule) => !volumeRules.includes(rule));

export const scheduler: Benchmark = {
  name: 'scheduler',
  summary: 'pods placed per second in the embedded cluster: plain, with local volumes, with capacity pools',
  async run(progress) {
    const rows: Row[] = [];
    for (const work of workloads) {
      progress(`${work.name}: ${work.pods} pods, ${work.nodes} nodes, ${work.volumes} volumes`);
      rows.push(await measure(work, 'all rules'));
      if (work.wants === 'nothing') rows.push(await measure(work, 'without the volume rules'));
    }
    return rows;
  },
};

async function measure(
  work: SchedulingWorkload,
  rules: 'all rules' | 'without the volume rules',
): Promise<Row> {
  const cluster = await emptyCluster();
  await seed(cluster, work);
  const random = seededRandom('bench');
  await using supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
  const placing = schedulerController({ rules: rules === 'all rules' ? defaultRules : withoutVolumeRules });
  const { errors, metrics } = runInProcess(cluster, supervisor, [placing, pvBinderController()]);
  if (work.wants === 'a new volume') supervisor.start('provisioner', (signal) => provision(cluster, signal));
  await settled(cluster);
  const start = performance.now();
  const cpu = process.cpuUsage();
  const placed = untilPlaced(cluster, work.pods);
  await makePods(cluster, work);
  const madeMs = performance.now() - start;
  await placed;
  const ms = performance.now() - start;
  return {
    work: work.name,
    nodes: work.nodes,
    volumes: work.volumes,
    pods: work.pods,
    rules,
    podsPerSecond: rounded((work.pods / ms) * 1_000),
    ms: Math.round(ms),
    makingThemMs: Math.round(madeMs),
    cpuMs: Math.round(process.cpuUsage(cpu).user / 1_000),
    decisionMs: meanMs(metrics.render(), 'stowage_scheduler_decision_seconds'),
    errors: errors.length,
  };
}

/** Waits until the caches are filled and the volumes are Available: only the pods are missing. */
async function settled(cluster: Awaited<ReturnType<typeof emptyCluster>>): Promise<void> {
  const probe: SchedulingWorkload = { name: 'probe', nodes: 0, volumes: 0, pods: 0, wants: 'nothing' };
  await makePods(cluster, probe);
  await realClock.sleep(3_000, new AbortController().signal);
}

function meanMs(page: string, name: string): number {
  const value = (suffix: string) => Number(new RegExp(`^${name}_${suffix} (.*)$`, 'm').exec(page)?.[1]);
  return rounded((value('sum') / value('count')) * 1_000);
}
