/**
 * The PV controller of kube-controller-manager compared with ours, on the same workload in the same run. All use HTTPS and a server that
 * flushes every write: both controllers with kube-apiserver and etcd, and ours also with `stowage up`. This process watches.
 */
import type { Cluster } from '../../src/cluster/cluster.ts';
import { pvBinderController } from '../../src/controllers/volumes/pv-binder/pv-binder.ts';
import { persistentVolumeClaims } from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { type ProgramPaths, providePrograms } from '../../test/kubernetes/binaries.ts';
import { TestBed } from '../../test/kubernetes/test-bed.ts';
import { type Row, rounded } from '../harness.ts';
import { runInProcess } from '../in-process.ts';
import { type BindingWorkload, delayed, freeChoice, prebound, prepare, untilBound } from './workloads.ts';

const claims = 500;
/** All claims would take minutes with the default limit of 20 requests a second. */
const limitedClaims = 50;
const workloads = [prebound, delayed, freeChoice];
const manager = 'kube-controller-manager';

export async function compareBinders(progress: (text: string) => void): Promise<readonly Row[]> {
  const names = ['etcd', 'kube-apiserver', manager] as const;
  const programs = await providePrograms({ env: process.env, report: progress, names });
  if (names.some((name) => programs[name] === undefined)) {
    progress(`${manager}: not compared: neither the program nor Go is available`);
    return [];
  }
  const rows: Row[] = [];
  for (const subject of subjects) rows.push(...(await measureAll(subject, programs, progress)));
  return [...rows, ...workloads.flatMap((work) => ratiosOf(work, rows))];
}

interface Subject {
  readonly binder: string;
  readonly server: 'kubernetes' | 'stowage';
  readonly workloads: readonly BindingWorkload[];
  readonly claims: number;
  /** For the binder of kube-controller-manager. */
  readonly managerFlags?: Readonly<Record<string, string | number>>;
}

/** The default; a test bed sets one second. */
const syncPeriod = { 'pvclaimbinder-sync-period': '15s' };
const theirs = 'theirs, requests unlimited';
const ours = 'ours, requests unlimited';

const subjects: readonly Subject[] = [
  {
    binder: 'theirs, 20 requests a second (default)',
    server: 'kubernetes',
    workloads: [prebound],
    claims: limitedClaims,
    managerFlags: syncPeriod,
  },
  {
    binder: theirs,
    server: 'kubernetes',
    workloads,
    claims,
    managerFlags: { ...syncPeriod, 'kube-api-qps': 100_000, 'kube-api-burst': 100_000 },
  },
  { binder: ours, server: 'kubernetes', workloads, claims },
  { binder: ours, server: 'stowage', workloads, claims },
];

async function measureAll(
  subject: Subject,
  programs: ProgramPaths,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const { server, managerFlags } = subject;
  const controllers = ['persistentvolume-binder-controller'];
  const controllerManager = managerFlags && { controllers, extraFlags: managerFlags };
  await using bed = await TestBed.start({
    programs,
    server,
    isDurable: true,
    ...(controllerManager && { controllerManager }),
  });
  const rows: Row[] = [];
  for (const work of subject.workloads) {
    progress(
      `${work.name}: ${subject.claims} claims, binder: ${subject.binder}, server: ${serverName(subject)}`,
    );
    rows.push(await measure(bed, subject, work));
  }
  return rows;
}

async function measure(bed: TestBed, subject: Subject, work: BindingWorkload): Promise<Row> {
  const isTheirs = subject.managerFlags !== undefined;
  if (isTheirs) await bed.signal(manager, 'SIGSTOP');
  const cluster = await bed.connect();
  await prepare(cluster, work, subject.claims);
  await assertNoneBound(cluster, work);
  await using supervisor = new Supervisor({
    clock: realClock,
    random: seededRandom('bench'),
    onCrash: () => {},
  });
  const times = untilBound(cluster, work, subject.claims);
  const start = performance.now();
  const errors = isTheirs ? [] : runInProcess(await bed.connect(), supervisor, [pvBinderController()]).errors;
  if (isTheirs) await bed.restart(manager, 'SIGKILL');
  const { firstAt, lastAt } = await times;
  return {
    work: 'compared',
    what: work.name,
    binder: subject.binder,
    server: serverName(subject),
    claims: subject.claims,
    toFirstMs: Math.round(firstAt - start),
    firstToLastMs: Math.round(lastAt - firstAt),
    claimsPerSecond: rounded((subject.claims / (lastAt - firstAt)) * 1_000),
    errors: errors.length,
  };
}

/** Fails if a binder has worked before the measurement starts. */
async function assertNoneBound(cluster: Cluster, { name, className }: BindingWorkload): Promise<void> {
  const { items } = await cluster.resource(persistentVolumeClaims).list();
  const early = items.filter(
    ({ spec, status }) => spec?.storageClassName === className && status?.phase === 'Bound',
  );
  if (early.length > 0) throw new Error(`${name}: ${early.length} claims were bound before the start`);
}

function serverName({ server }: Subject): string {
  return server === 'stowage' ? 'stowage up' : 'kube-apiserver + etcd';
}

/** How many times faster ours is, from the first bound claim to the last, without the start of either. */
function ratiosOf({ name }: BindingWorkload, rows: readonly Row[]): readonly Row[] {
  const of = (binder: string) => rows.filter((row) => row.what === name && row.binder === binder);
  const their = Number(of(theirs)[0]?.claimsPerSecond);
  return of(ours).map((row) => ({
    work: 'ratio',
    what: name,
    ours: `over HTTPS, ${row.server}`,
    theirs: 'over HTTPS, kube-apiserver + etcd',
    timesBetter: rounded(Number(row.claimsPerSecond) / their),
  }));
}
