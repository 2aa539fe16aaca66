import type { Cluster } from '../../src/cluster/cluster.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../src/kube/resources.ts';
import { annotations } from '../../src/kube/well-known.ts';
import { realClock } from '../../src/runtime/clock.ts';
import type { ProgramPaths } from '../../test/kubernetes/binaries.ts';
import { TestBed } from '../../test/kubernetes/test-bed.ts';
import { inParallel } from '../in-parallel.ts';
import { makeClaim, makePod, makeVolumeFor, type SchedulingWorkload, seed } from '../scheduler/workloads.ts';
import { type WriteCounts, writeCounts, writesBetween } from './api-writes.ts';
import { PodTimes } from './pod-times.ts';
import { cpuSecondsOf, peakMiBOf } from './process-usage.ts';
import { RunningScheduler, type Scheduler } from './schedulers.ts';
import { changesOf } from './watch-changes.ts';

/** The defaults, except for the limit of 20 requests a second, which would dominate the measurement. */
const managerFlags = {
  'pvclaimbinder-sync-period': '15s',
  'kube-api-qps': 100_000,
  'kube-api-burst': 100_000,
};
/** If nothing was written for this long, the preparation is complete, or all consequences of the pods are written. */
const calmMs = 1_000;
const calmMaxMs = 60_000;
/** The number of a pod that is created before all others. */
const probe = 9_999_999;
const never = new AbortController().signal;

/**
 * `at once`: while the scheduler runs, as fast as pods can be created. `before the start`: pods are pending when the scheduler starts, so
 * that the creation rate does not limit it. `in turn`: each pod when the previous one could start, so that only the scheduler causes waiting.
 */
export type Arrival = 'at once' | 'before the start' | 'in turn';

export interface ComparedWork extends SchedulingWorkload {
  readonly arrival: Arrival;
}

export interface Measured {
  readonly work: ComparedWork;
  readonly scheduler: Scheduler['name'];
  readonly placed: number;
  /**
   * From the first pod that was created (or placed, if the pods were pending before) to the last one that was placed, or to the time limit.
   */
  readonly seconds: number;
  readonly isCapped: boolean;
  /** The creation rate, if it matters; no scheduler can be faster. */
  readonly createdPerSecond: number;
  readonly toNodeMs: readonly number[];
  readonly toReadyMs: readonly number[];
  readonly cpuSeconds: number;
  readonly apiServerCpuSeconds: number;
  readonly peakMiB: number;
  readonly writes: WriteCounts;
}

export interface MeasureOptions {
  readonly work: ComparedWork;
  readonly scheduler: Scheduler;
  readonly programs: ProgramPaths;
  readonly capMs: number;
  readonly progress: (text: string) => void;
}

/** Measures one scheduler alone, on a new cluster. */
export async function measure(options: MeasureOptions): Promise<Measured> {
  const { work, programs, progress } = options;
  const controllers = ['persistentvolume-binder-controller'];
  const controllerManager = { controllers, extraFlags: managerFlags };
  await using bed = await TestBed.start({ programs, isDurable: true, controllerManager });
  const cluster = await bed.connect();
  const stop = new AbortController();
  await seed(cluster, work);
  await untilAvailable(cluster, work.volumes);
  const provisioning = provision(await bed.connect(), stop.signal);
  if (work.wants !== 'nothing') await inParallel(work.pods, (at) => makeClaim(cluster, at));
  progress(`  prepared: ${work.nodes} nodes, ${work.volumes} volumes; now ${work.pods} pods`);
  try {
    const place = work.arrival === 'before the start' ? placeWaiting : placeArriving;
    return await place(options, { bed, cluster });
  } finally {
    stop.abort();
    await provisioning;
  }
}

interface Stage {
  readonly bed: TestBed;
  readonly cluster: Cluster;
}

async function placeArriving(options: MeasureOptions, { bed, cluster }: Stage): Promise<Measured> {
  const { work, scheduler, programs, capMs } = options;
  await using running = await RunningScheduler.start(scheduler, { programs, kubeconfig: bed.kubeconfig });
  await untilPlacing(cluster, running);
  await untilCalm(bed.kubeconfig);
  const times = watchedPods(cluster, work);
  const before = await usage(bed, running);
  const timeIsUp = AbortSignal.timeout(capMs);
  if (work.arrival === 'in turn') await makePodsInTurn(cluster, work, { times, timeIsUp });
  else await makePods(cluster, work, times);
  await times.untilReady(work.pods, timeIsUp);
  const { firstCreatedAt, lastCreatedAt, lastNodeAt } = times.span;
  const endAt = times.placed === work.pods ? lastNodeAt : performance.now();
  return await conclude(
    options,
    { bed, running, times, before },
    {
      seconds: (endAt - firstCreatedAt) / 1_000,
      createdPerSecond: (work.pods / (lastCreatedAt - firstCreatedAt)) * 1_000,
    },
  );
}

async function placeWaiting(options: MeasureOptions, { bed, cluster }: Stage): Promise<Measured> {
  const { work, scheduler, programs, capMs } = options;
  const times = watchedPods(cluster, work);
  await makePods(cluster, work, times);
  await untilCalm(bed.kubeconfig);
  const before = await usage(bed, undefined);
  times.startOver();
  await using running = await RunningScheduler.start(scheduler, { programs, kubeconfig: bed.kubeconfig });
  await times.untilReady(work.pods, AbortSignal.timeout(capMs));
  const { firstCreatedAt, firstNodeAt, lastNodeAt } = times.span;
  const startAt = times.placed === 0 ? firstCreatedAt : firstNodeAt;
  const endAt = times.placed === work.pods ? lastNodeAt : performance.now();
  return await conclude(
    options,
    { bed, running, times, before },
    {
      seconds: (endAt - startAt) / 1_000,
      createdPerSecond: Number.NaN,
    },
  );
}

function watchedPods(cluster: Cluster, { pods: count, wants }: SchedulingWorkload): PodTimes {
  return new PodTimes({ cluster, pods: count, hasClaims: wants !== 'nothing' });
}

async function makePods(cluster: Cluster, work: SchedulingWorkload, times: PodTimes): Promise<void> {
  await inParallel(work.pods, async (at) => {
    await makePod(cluster, at, work);
    times.created(at);
  });
}

async function makePodsInTurn(
  cluster: Cluster,
  work: SchedulingWorkload,
  { times, timeIsUp }: { readonly times: PodTimes; readonly timeIsUp: AbortSignal },
): Promise<void> {
  for (let at = 0; at < work.pods && !timeIsUp.aborted; at += 1) {
    await makePod(cluster, at, work);
    times.created(at);
    await times.untilReady(at + 1, timeIsUp);
  }
}

interface Run {
  readonly bed: TestBed;
  readonly running: RunningScheduler;
  readonly times: PodTimes;
  readonly before: Usage;
}

async function conclude(
  { work, scheduler }: MeasureOptions,
  { bed, running, times, before }: Run,
  rates: Pick<Measured, 'seconds' | 'createdPerSecond'>,
): Promise<Measured> {
  const { placed, toNodeMs, toReadyMs } = times;
  // Events about the pods are written later. If some pods are not placed, the number of remaining writes is unknown.
  if (placed === work.pods) await untilCalm(bed.kubeconfig);
  const after = await usage(bed, running);
  await times.end();
  return {
    work,
    scheduler: scheduler.name,
    placed,
    ...rates,
    isCapped: placed < work.pods,
    toNodeMs,
    toReadyMs,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    apiServerCpuSeconds: after.apiServerCpuSeconds - before.apiServerCpuSeconds,
    peakMiB: peakMiBOf(running.pid),
    writes: writesBetween(before.writes, after.writes, isOfTheBench),
  };
}

interface Usage {
  readonly cpuSeconds: number;
  readonly apiServerCpuSeconds: number;
  readonly writes: WriteCounts;
}

async function usage(bed: TestBed, running: RunningScheduler | undefined): Promise<Usage> {
  return {
    cpuSeconds: running === undefined ? 0 : cpuSecondsOf(running.pid),
    apiServerCpuSeconds: cpuSecondsOf(bed.pidOf('kube-apiserver') ?? 0),
    writes: await writeCounts(bed.kubeconfig),
  };
}

/** Writes of this process, and internal writes of the server. */
function isOfTheBench(what: string): boolean {
  return what === 'POST pods' || what === 'POST persistentvolumes' || what.endsWith(' leases');
}

/** Creates volumes immediately and in parallel: the time of real storage is not measured. */
async function provision(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const made = new Map<string, Promise<void>>();
  for await (const { metadata } of changesOf(cluster, persistentVolumeClaims, signal)) {
    const { name = '', uid = '' } = metadata ?? {};
    const node = metadata?.annotations?.[annotations.selectedNode];
    if (node !== undefined && !made.has(uid)) made.set(uid, makeVolumeFor(cluster, { name, uid, node }));
  }
  await Promise.all(made.values());
}

/** The PV controller marks a volume as Available once it has seen it. */
async function untilAvailable(cluster: Cluster, volumes: number): Promise<void> {
  if (volumes === 0) return;
  const stop = new AbortController();
  const available = new Set<string>();
  for await (const { metadata, status } of changesOf(cluster, persistentVolumes, stop.signal)) {
    if (status?.phase === 'Available') available.add(metadata?.name ?? '');
    if (available.size === volumes) stop.abort();
  }
}

/** Waits until a pod without requirements has a node: then the scheduler workloads. */
async function untilPlacing(cluster: Cluster, running: RunningScheduler): Promise<void> {
  await makePod(cluster, probe, { name: 'probe', nodes: 0, volumes: 0, pods: 1, wants: 'nothing' });
  const patience = AbortSignal.timeout(calmMaxMs);
  for await (const { spec } of changesOf(cluster, pods, patience)) if ((spec?.nodeName ?? '') !== '') return;
  throw new Error(`process ${running.pid} has scheduled no pod:\n${running.lastOutput}`);
}

/** Waits until the server has received no write for a while. */
async function untilCalm(kubeconfig: string): Promise<void> {
  let known = -1;
  for (let waitedMs = 0; waitedMs < calmMaxMs; waitedMs += calmMs) {
    let now = 0;
    for (const [what, count] of await writeCounts(kubeconfig)) if (!what.endsWith(' leases')) now += count;
    if (now === known) return;
    known = now;
    await realClock.sleep(calmMs, never);
  }
}
