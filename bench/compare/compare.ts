/**
 * kube-scheduler compared with `stowage run`, each alone on a new kube-apiserver with etcd and the PV controller of
 * kube-controller-manager. docs/benchmarks.md describes the method and the results.
 */
import { providePrograms } from '../../test/kubernetes/binaries.ts';
import { type Benchmark, type Row, rounded, type Sizes } from '../harness.ts';
import { plotOf } from './bars.ts';
import { markdownOf } from './markdown.ts';
import { type ComparedWork, type Measured, measure } from './measure.ts';
import { percentile } from './pod-times.ts';
import { kubeScheduler, ours, stowageRun, theirs } from './schedulers.ts';

const sizesDefault = { nodes: 1_000, pvs: 10_000, pods: 500, cap: 60 } as const;
/** Runs besides the large cluster, unless the user requests a smaller one. */
const small = { nodes: 100, volumes: 500 } as const;
/** Plain pods are scheduled so fast that a smaller number would finish too early to measure. */
const plainTimes = 4;
/** The number of pods if they are created one at a time. */
const inTurnMax = 20;
const schedulers = [kubeScheduler, stowageRun];

export const compare: Benchmark = {
  name: 'compare',
  summary:
    'kube-scheduler beside `stowage run` on kube-apiserver: pods placed per second, latency, CPU, memory, writes',
  async run(progress, sizes = {}) {
    const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', theirs] as const;
    const programs = await providePrograms({ env: process.env, report: progress, names });
    if (names.some((name) => programs[name] === undefined)) {
      progress(`${theirs}: not compared: neither the program nor Go is available`);
      return [];
    }
    const { cap } = { ...sizesDefault, ...sizes };
    const all: Measured[] = [];
    for (const work of worksOf(sizes)) {
      for (const scheduler of schedulers) {
        progress(`${work.name}: ${scheduler.name}`);
        all.push(await measure({ work, scheduler, programs, capMs: cap * 1_000, progress }));
        progress(`  ${all.at(-1)!.placed} pods in ${all.at(-1)!.seconds.toFixed(1)} s`);
      }
    }
    return rowsOf(all);
  },
  report: markdownOf,
  plot: plotOf,
};

function worksOf(sizes: Sizes): readonly ComparedWork[] {
  const { nodes, pvs, pods } = { ...sizesDefault, ...sizes };
  const plain = { wants: 'nothing', nodes, volumes: 0, pods: plainTimes * pods } as const;
  const local = { name: 'local volumes', wants: 'a local volume', arrival: 'at once' } as const;
  const large = { ...local, nodes, volumes: pvs, pods: Math.min(pods, pvs) };
  const pools = { ...local, name: 'capacity pools', wants: 'a new volume', nodes, volumes: 0, pods } as const;
  const inTurn = { arrival: 'in turn', pods: Math.min(pods, inTurnMax) } as const;
  return [
    { ...plain, name: 'plain pods', arrival: 'at once' },
    { ...plain, name: 'plain pods that waited', arrival: 'before the start' },
    ...(nodes > small.nodes ? [{ ...local, ...small, pods: Math.min(pods, small.volumes) }] : []),
    large,
    pools,
    ...[large, pools].map((work) => ({ ...work, ...inTurn, name: `${work.name}, in turn` })),
  ];
}

function rowsOf(all: readonly Measured[]): readonly Row[] {
  const workloads = [...new Set(all.map(({ work }) => work))];
  return [
    ...workloads.flatMap((work) => ratioOf(work, all)),
    ...all.map(placedRow),
    ...all.map(latencyRow),
    ...workloads.flatMap((work) => writeRows(work, all)),
  ];
}

function what({ name, nodes, volumes }: ComparedWork): Row {
  return { what: name, nodes, volumes };
}

function ratioOf(work: ComparedWork, all: readonly Measured[]): readonly Row[] {
  const of = (name: string) => all.find((each) => each.work === work && each.scheduler === name);
  const [their, our] = [of(theirs), of(ours)];
  if (their === undefined || our === undefined) return [];
  return [
    {
      work: 'ours beside theirs',
      ...what(work),
      [`${theirs}, pods/s`]: rounded(podsPerSecond(their)),
      [`${ours}, pods/s`]: rounded(podsPerSecond(our)),
      'times faster': timesOf(their, our, podsPerSecond(our) / podsPerSecond(atLeastOne(their))),
      'times less CPU a pod': timesOf(their, our, cpuMsPerPod(atLeastOne(their)) / cpuMsPerPod(our)),
    },
  ];
}

/** A scheduler that has placed nothing at the time limit might have placed the first pod at that moment. This upper bound is its result. */
function atLeastOne(measured: Measured): Measured {
  return { ...measured, placed: Math.max(1, measured.placed) };
}

function timesOf(their: Measured, our: Measured, times: number): string | number {
  if (our.placed === 0) return 'none placed';
  return their.placed === 0 ? `> ${rounded(times)}` : rounded(times);
}

function placedRow(measured: Measured): Row {
  const { work, scheduler, placed, isCapped } = measured;
  return {
    work: 'placed',
    ...what(work),
    scheduler,
    pods: work.pods,
    placed,
    seconds: rounded(measured.seconds),
    isTimeUp: isCapped ? 'yes' : '',
    podsPerSecond: rounded(podsPerSecond(measured)),
    ...(work.arrival === 'at once' && { createdPerSecond: rounded(measured.createdPerSecond) }),
    ...(placed > 0 && {
      cpuMsPerPod: rounded(cpuMsPerPod(measured)),
      apiServerCpuMsPerPod: rounded((measured.apiServerCpuSeconds / placed) * 1_000),
    }),
    cpuSeconds: rounded(measured.cpuSeconds),
    peakMiB: measured.peakMiB,
  };
}

function podsPerSecond({ placed, seconds }: Measured): number {
  return placed / seconds;
}

function cpuMsPerPod({ cpuSeconds, placed }: Measured): number {
  return (cpuSeconds / placed) * 1_000;
}

function latencyRow({ work, scheduler, toNodeMs, toReadyMs }: Measured): Row {
  const ms = (sorted: readonly number[], share: number) =>
    sorted.length === 0 ? 'none' : Math.round(percentile(sorted, share));
  return {
    work: 'latency',
    ...what(work),
    scheduler,
    toNodeP50Ms: ms(toNodeMs, 0.5),
    toNodeP90Ms: ms(toNodeMs, 0.9),
    toNodeP99Ms: ms(toNodeMs, 0.99),
    toReadyP50Ms: ms(toReadyMs, 0.5),
    toReadyP90Ms: ms(toReadyMs, 0.9),
    toReadyP99Ms: ms(toReadyMs, 0.99),
  };
}

/** One row for each kind of write, and one for the sum. */
function writeRows(work: ComparedWork, all: readonly Measured[]): readonly Row[] {
  const both = all.filter((each) => each.work === work);
  const kinds = [...new Set(both.flatMap(({ writes }) => [...writes.keys()]))].sort();
  const row = (write: string, counted: readonly string[]): Row => {
    const columns = both.map(({ scheduler, writes, placed }) => {
      const count = counted.reduce((sum, kind) => sum + (writes.get(kind) ?? 0), 0);
      return [scheduler, placed === 0 ? 'none placed' : rounded(count / placed)];
    });
    return { work: 'writes a pod', ...what(work), write, ...Object.fromEntries(columns) };
  };
  return [...kinds.map((kind) => row(kind, [kind])), row('all', kinds)];
}
