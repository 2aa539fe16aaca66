import type { Cluster } from '../../src/cluster/cluster.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../src/kube/resources.ts';
import { annotations } from '../../src/kube/well-known.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { Bed } from '../../test/kubernetes/bed.ts';
import type { ProgramPaths } from '../../test/kubernetes/binaries.ts';
import { furnish, makeClaim, makePod, makeVolumeFor, type Work } from '../scheduler/works.ts';
import { timesAtOnce } from '../times-at-once.ts';
import { type WriteCounts, writeCounts, writesBetween } from './api-writes.ts';
import { changesOf } from './changes.ts';
import { PodTimes } from './pod-times.ts';
import { cpuSecondsOf, peakMiBOf } from './process-use.ts';
import { RunningScheduler, type Scheduler } from './schedulers.ts';

/** As people run it, but for its limit of 20 requests a second, which would be all that is measured. */
const managerFlags = {
  'pvclaimbinder-sync-period': '15s',
  'kube-api-qps': 100_000,
  'kube-api-burst': 100_000,
};
/** Nothing was written for so long: what the pods wait for is there, or all that came of them is written. */
const calmMs = 1_000;
const calmMaxMs = 60_000;
/** The number of a pod that comes before all others. */
const probe = 9_999_999;
const never = new AbortController().signal;

/**
 * `at once`: while the scheduler runs, as fast as they can be made. `before the start`: they wait for it, so that how fast they can be
 * made is no limit. `in turn`: each when the one before it could start, so that nothing waits but for the scheduler.
 */
export type Arrival = 'at once' | 'before the start' | 'in turn';

export interface ComparedWork extends Work {
  readonly arrival: Arrival;
}

export interface Measured {
  readonly work: ComparedWork;
  readonly scheduler: Scheduler['name'];
  readonly placed: number;
  /** From the first pod that was there, or the first that was placed if they waited, to the last that was; or until time was up. */
  readonly seconds: number;
  readonly isCapped: boolean;
  /** How fast the pods came, where that counts; nobody can be faster. */
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

/** One scheduler alone, on a cluster that nobody has used before. */
export async function measure(options: MeasureOptions): Promise<Measured> {
  const { work, programs, progress } = options;
  const controllers = ['persistentvolume-binder-controller'];
  const controllerManager = { controllers, extraFlags: managerFlags };
  await using bed = await Bed.start({ programs, isDurable: true, controllerManager });
  const cluster = await bed.connect();
  const stop = new AbortController();
  await furnish(cluster, work);
  await untilAvailable(cluster, work.volumes);
  const provisioning = provision(await bed.connect(), stop.signal);
  if (work.wants !== 'nothing') await timesAtOnce(work.pods, (at) => makeClaim(cluster, at));
  progress(`  furnished: ${work.nodes} nodes, ${work.volumes} volumes; now ${work.pods} pods`);
  try {
    const place = work.arrival === 'before the start' ? placeWaiting : placeArriving;
    return await place(options, { bed, cluster });
  } finally {
    stop.abort();
    await provisioning;
  }
}

interface Stage {
  readonly bed: Bed;
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

function watchedPods(cluster: Cluster, { pods: count, wants }: Work): PodTimes {
  return new PodTimes({ cluster, pods: count, hasClaims: wants !== 'nothing' });
}

async function makePods(cluster: Cluster, work: Work, times: PodTimes): Promise<void> {
  await timesAtOnce(work.pods, async (at) => {
    await makePod(cluster, at, work);
    times.created(at);
  });
}

async function makePodsInTurn(
  cluster: Cluster,
  work: Work,
  { times, timeIsUp }: { readonly times: PodTimes; readonly timeIsUp: AbortSignal },
): Promise<void> {
  for (let at = 0; at < work.pods && !timeIsUp.aborted; at += 1) {
    await makePod(cluster, at, work);
    times.created(at);
    await times.untilReady(at + 1, timeIsUp);
  }
}

interface Run {
  readonly bed: Bed;
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
  // What is told about the pods is written after them; of those that are still to come nothing is known.
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

async function usage(bed: Bed, running: RunningScheduler | undefined): Promise<Usage> {
  return {
    cpuSeconds: running === undefined ? 0 : cpuSecondsOf(running.pid),
    apiServerCpuSeconds: cpuSecondsOf(bed.pidOf('kube-apiserver') ?? 0),
    writes: await writeCounts(bed.kubeconfig),
  };
}

/** What this process makes, and what the server writes about itself. */
function isOfTheBench(what: string): boolean {
  return what === 'POST pods' || what === 'POST persistentvolumes' || what.endsWith(' leases');
}

/** Makes volumes at once, as many at a time as are asked for: what real storage takes is no part of this. */
async function provision(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const made = new Map<string, Promise<void>>();
  for await (const { metadata } of changesOf(cluster, persistentVolumeClaims, signal)) {
    const { name = '', uid = '' } = metadata ?? {};
    const node = metadata?.annotations?.[annotations.selectedNode];
    if (node !== undefined && !made.has(uid)) made.set(uid, makeVolumeFor(cluster, { name, uid, node }));
  }
  await Promise.all(made.values());
}

/** The PV controller offers a volume once it has seen it. */
async function untilAvailable(cluster: Cluster, volumes: number): Promise<void> {
  if (volumes === 0) return;
  const stop = new AbortController();
  const available = new Set<string>();
  for await (const { metadata, status } of changesOf(cluster, persistentVolumes, stop.signal)) {
    if (status?.phase === 'Available') available.add(metadata?.name ?? '');
    if (available.size === volumes) stop.abort();
  }
}

/** A pod that wants nothing but a node: once it has one, the scheduler is at work. */
async function untilPlacing(cluster: Cluster, running: RunningScheduler): Promise<void> {
  await makePod(cluster, probe, { name: 'probe', nodes: 0, volumes: 0, pods: 1, wants: 'nothing' });
  const patience = AbortSignal.timeout(calmMaxMs);
  for await (const { spec } of changesOf(cluster, pods, patience)) if ((spec?.nodeName ?? '') !== '') return;
  throw new Error(`process ${running.pid} places nothing:\n${running.lastWords}`);
}

/** Until the server has not been asked to write for a while. */
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
