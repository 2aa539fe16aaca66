/**
 * The embedded API server over TLS, loaded from this process: both share two cores. Writes are durable when they are acknowledged. The
 * benchmark also prints the cost of a flush to this disk, because it limits the write rate.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Benchmark, type Row, rounded } from '../harness.ts';
import { applyInRounds, configMap, configMapsPath, deployment, deploymentsPath } from './apply-workloads.ts';
import { createPool, definePools, pool, poolsPath } from './custom-workloads.ts';
import { startKubernetes } from './kubernetes-subject.ts';
import { startStowage } from './stowage-subject.ts';
import type { MeasuredServer } from './subject.ts';
import {
  createVolume,
  fanOut,
  getVolume,
  listAll,
  listPaged,
  patchVolume,
  rateOf,
  watchAll,
} from './workloads.ts';

const writers = 64;
const warmUps = 2_000;
const requests = 10_000;
/** Server-side applies, to this many objects in rounds. */
const applies = 6_000;
const appliedObjects = 1_000;
/**
 * Lists and watches are compared with this many objects. The targets for our server are at the larger number, which would take
 * kube-apiserver minutes.
 */
const compared = 20_000;
const many = 100_000;
const watchers = 100;
const fanOutWrites = 500;

export const apiserver: Benchmark = {
  name: 'apiserver',
  summary:
    'the embedded API server beside kube-apiserver with etcd: start, durable writes and applies, custom resources, reads, lists, watches, memory',
  async run(progress) {
    const disk = { work: 'disk', flushMicroseconds: flushMicroseconds() };
    const ours = await measure(await startStowage(), [compared, many], progress);
    const real = await startKubernetes(progress);
    const theirs = real === undefined ? [] : await measure(real, [compared], progress);
    return [disk, ...ours, ...theirs, ...ratios(ours, theirs)];
  },
};

async function measure(
  subject: MeasuredServer,
  sizes: readonly number[],
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const server = subject.name;
  progress(`${server}: answered after ${Math.round(subject.startMs)} ms`);
  try {
    const rows: Row[] = [{ work: 'start', server, ms: rounded(subject.startMs) }];
    progress(`${server}: creates, gets and patches with ${writers} clients`);
    rows.push(...(await measureRates(subject)));
    progress(`${server}: server-side applies and custom resources`);
    rows.push(...(await measureApplies(subject)), ...(await measureCustom(subject)));
    let volumes = warmUps + requests;
    for (const size of sizes) {
      progress(`${server}: lists and watches of ${size} volumes`);
      await rateOf(subject, writers, size - volumes, createVolume(`to-${size}`));
      rows.push(...(await measureMany(subject, size)));
      volumes = size + fanOutWrites;
    }
    return rows;
  } finally {
    await subject.close();
  }
}

async function measureRates(subject: MeasuredServer): Promise<readonly Row[]> {
  const server = subject.name;
  await rateOf(subject, writers, warmUps, createVolume('warm'));
  const created = await rateOf(subject, writers, requests, createVolume('disk'));
  const got = await rateOf(subject, writers, 2 * requests, getVolume('disk', requests));
  const patched = await rateOf(subject, writers, requests, patchVolume('disk', requests));
  return [
    { work: 'requests', server, verb: 'create', clients: writers, ...created },
    { work: 'requests', server, verb: 'get', clients: writers, ...got },
    { work: 'requests', server, verb: 'patch', clients: writers, ...patched },
  ];
}

async function measureApplies(subject: MeasuredServer): Promise<readonly Row[]> {
  const applied = async (kind: string, path: string, config: Parameters<typeof applyInRounds>[2]) => {
    const rate = await rateOf(subject, writers, applies, applyInRounds(path, appliedObjects, config));
    return { work: 'requests', server: subject.name, verb: `apply ${kind}`, clients: writers, ...rate };
  };
  return [
    await applied('ConfigMap', configMapsPath, configMap),
    await applied('Deployment', deploymentsPath, deployment),
  ];
}

async function measureCustom(subject: MeasuredServer): Promise<readonly Row[]> {
  if (!(await definePools(subject))) return [];
  const server = subject.name;
  const created = await rateOf(subject, writers, applies, createPool('made'));
  const applied = await rateOf(subject, writers, applies, applyInRounds(poolsPath, appliedObjects, pool));
  return [
    { work: 'requests', server, verb: 'create custom', clients: writers, ...created },
    { work: 'requests', server, verb: 'apply custom', clients: writers, ...applied },
  ];
}

async function measureMany(subject: MeasuredServer, volumes: number): Promise<readonly Row[]> {
  const server = subject.name;
  const memory = subject.memory();
  const whole = await listAll(subject);
  const pagedMs = await listPaged(subject);
  const watchMs = await watchAll(subject, volumes);
  const deliveriesPerSecond = await fanOut(subject, watchers, fanOutWrites);
  return [
    { work: 'memory', server, volumes, ...memory },
    { work: 'lists', server, volumes, wholeMs: whole.ms, mib: whole.mib, pagedMs, watchMs },
    { work: 'fan-out', server, volumes, watchers, deliveriesPerSecond },
  ];
}

/** How many times better our server is, in the same run on the same machine. */
function ratios(ours: readonly Row[], theirs: readonly Row[]): readonly Row[] {
  const measures = [
    { what: 'start', work: 'start', column: 'ms', isCost: true },
    { what: 'creates', work: 'requests', verb: 'create', column: 'perSecond', isCost: false },
    { what: 'gets', work: 'requests', verb: 'get', column: 'perSecond', isCost: false },
    { what: 'patches', work: 'requests', verb: 'patch', column: 'perSecond', isCost: false },
    {
      what: 'applies of ConfigMaps',
      work: 'requests',
      verb: 'apply ConfigMap',
      column: 'perSecond',
      isCost: false,
    },
    {
      what: 'applies of Deployments',
      work: 'requests',
      verb: 'apply Deployment',
      column: 'perSecond',
      isCost: false,
    },
    { what: 'custom creates', work: 'requests', verb: 'create custom', column: 'perSecond', isCost: false },
    { what: 'custom applies', work: 'requests', verb: 'apply custom', column: 'perSecond', isCost: false },
    { what: 'memory', work: 'memory', column: 'residentMiB', isCost: true },
    { what: 'list', work: 'lists', column: 'wholeMs', isCost: true },
    { what: 'paged list', work: 'lists', column: 'pagedMs', isCost: true },
    { what: 'watch', work: 'lists', column: 'watchMs', isCost: true },
    { what: 'fan-out', work: 'fan-out', column: 'deliveriesPerSecond', isCost: false },
  ];
  return measures.flatMap(({ what, work, verb, column, isCost }) => {
    const value = (rows: readonly Row[]) =>
      Number(rows.find((row) => row.work === work && (verb === undefined || row.verb === verb))?.[column]);
    const [our, their] = [value(ours), value(theirs)];
    if (Number.isNaN(our) || Number.isNaN(their)) return [];
    return [{ work: 'ratio', what, timesBetter: rounded(isCost ? their / our : our / their) }];
  });
}

/** The median cost of making a small write durable on an idle disk. */
function flushMicroseconds(): number {
  const path = join(tmpdir(), `flush-${process.pid}`);
  const file = openSync(path, 'w');
  const times = Array.from({ length: 100 }, () => {
    writeSync(file, 'x'.repeat(512));
    const begun = performance.now();
    fdatasyncSync(file);
    return (performance.now() - begun) * 1000;
  });
  closeSync(file);
  rmSync(path);
  return Math.round(times.sort((a, b) => a - b)[50] ?? 0);
}
