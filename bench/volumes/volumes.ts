/**
 * The rate at which volumes and claims are bound. First the binder on an embedded cluster in this process, in memory, from its start until
 * the last claim is Bound: server, informers and binder share one thread. Then in comparison with Kubernetes' own.
 */
import { pvBinderController } from '../../src/controllers/volumes/pv-binder/pv-binder.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { type Benchmark, type Row, rounded } from '../harness.ts';
import { emptyCluster, runInProcess } from '../in-process.ts';
import { compareBinders } from './compare-binders.ts';
import {
  type BindingWorkload,
  delayed,
  freeChoice,
  makeReleased,
  prebound,
  prepare,
  untilBound,
} from './workloads.ts';

const claims = 10_000;
const manyReleased = 50_000;

export const volumes: Benchmark = {
  name: 'volumes',
  summary:
    'claims bound per second: pairs that name each other, claims the scheduler chose for, and free choice; beside kube-controller-manager',
  async run(progress) {
    const rows: Row[] = [];
    for (const scenario of scenarios) {
      progress(`${scenario.work.name}: ${claims} claims, ${scenario.released} released volumes beside`);
      rows.push(await measure(scenario));
    }
    return [...rows, ...costs(rows), ...(await compareBinders(progress))];
  },
};

interface Scenario {
  readonly work: BindingWorkload;
  readonly released: number;
}

const scenarios: readonly Scenario[] = [
  { work: prebound, released: 0 },
  { work: delayed, released: 0 },
  { work: freeChoice, released: 0 },
  { work: freeChoice, released: manyReleased },
];

async function measure({ work, released }: Scenario): Promise<Row> {
  const cluster = await emptyCluster();
  await makeReleased(cluster, work, released);
  await prepare(cluster, work, claims);
  const random = seededRandom('bench');
  await using supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
  // The watch starts first: a late watch would see many bound at once.
  const times = untilBound(cluster, work, claims);
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { errors } = runInProcess(cluster, supervisor, [pvBinderController()]);
  const { firstAt, lastAt } = await times;
  const ms = lastAt - start;
  return {
    work: 'bind in process',
    what: work.name,
    claims,
    released,
    ms: Math.round(ms),
    cpuMs: Math.round(process.cpuUsage(cpu).user / 1_000),
    claimsPerSecond: rounded((claims / ms) * 1_000),
    toFirstMs: Math.round(firstAt - start),
    firstToLastMs: Math.round(lastAt - firstAt),
    errors: errors.length,
  };
}

/**
 * The cost of a claim without and with released volumes. The binder reads and checks each of these once, at its start; only the first row
 * includes that.
 */
function costs(rows: readonly Row[]): readonly Row[] {
  return [
    costPerClaim(rows, 'ms', 'the start of the binder'),
    costPerClaim(rows, 'firstToLastMs', 'the first bound claim'),
  ];
}

function costPerClaim(rows: readonly Row[], column: string, countedFrom: string): Row {
  const microseconds = (released: number) => {
    const row = rows.find(({ what, ...rest }) => what === freeChoice.name && rest.released === released);
    return rounded((Number(row?.[column]) / claims) * 1_000);
  };
  const [alone, among] = [microseconds(0), microseconds(manyReleased)];
  return {
    work: 'cost per claim, free choice',
    countedFrom,
    'microseconds, 0 released': alone,
    [`microseconds, ${manyReleased} released`]: among,
    times: rounded(among / alone),
  };
}
