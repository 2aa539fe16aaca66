/**
 * The embedded API server over TLS, loaded from this process: two cores are shared by both. Writes are durable when they are
 * answered; what a flush to this disk costs is printed beside them, because it bounds them.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Benchmark, type Row, rounded } from '../harness.ts';
import { startKubernetes } from './kubernetes-subject.ts';
import { startStowage } from './stowage-subject.ts';
import type { Subject } from './subject.ts';
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
const volumes = 100_000;

/** How much of the work each server gets: what takes a minute with one takes ten with the other. */
interface Amounts {
  readonly warmUp: number;
  readonly creates: number;
  readonly gets: number;
  readonly patches: number;
  readonly fanOutWrites: number;
}

const ourAmounts: Amounts = {
  warmUp: 5_000,
  creates: 20_000,
  gets: 40_000,
  patches: 20_000,
  fanOutWrites: 2_000,
};
const theirAmounts: Amounts = {
  warmUp: 1_000,
  creates: 8_000,
  gets: 16_000,
  patches: 8_000,
  fanOutWrites: 500,
};

export const apiserver: Benchmark = {
  name: 'apiserver',
  summary:
    'start, durable writes, reads, lists, watches and memory of the embedded API server, beside kube-apiserver with etcd',
  async run(progress) {
    const rows: Row[] = [{ work: 'disk', flushMicroseconds: flushMicroseconds() }];
    const ours = await measure(await startStowage(), ourAmounts, progress);
    const real = await startKubernetes(progress);
    const theirs = real === undefined ? [] : await measure(real, theirAmounts, progress);
    return [...rows, ...ours, ...theirs, ...ratios(ours, theirs)];
  },
};

async function measure(
  subject: Subject,
  amounts: Amounts,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  progress(`${subject.name}: answered after ${Math.round(subject.startMs)} ms`);
  try {
    return [
      { work: 'start', server: subject.name, ms: rounded(subject.startMs) },
      ...(await measureRates(subject, amounts, progress)),
      ...(await measureMany(subject, amounts, progress)),
    ];
  } finally {
    await subject.close();
  }
}

async function measureRates(
  subject: Subject,
  { warmUp, creates, gets, patches }: Amounts,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const server = subject.name;
  progress(`${server}: creates, gets and patches with ${writers} clients`);
  await rateOf(subject, writers, warmUp, createVolume('warm'));
  const created = await rateOf(subject, writers, creates, createVolume('disk'));
  const got = await rateOf(subject, writers, gets, getVolume('disk', creates));
  const patched = await rateOf(subject, writers, patches, patchVolume('disk', creates));
  return [
    { work: 'requests', server, verb: 'create', clients: writers, ...created },
    { work: 'requests', server, verb: 'get', clients: writers, ...got },
    { work: 'requests', server, verb: 'patch', clients: writers, ...patched },
  ];
}

async function measureMany(
  subject: Subject,
  { warmUp, creates, fanOutWrites }: Amounts,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const server = subject.name;
  progress(`${server}: filling up to ${volumes} volumes`);
  await rateOf(subject, writers, volumes - warmUp - creates, createVolume('more'));
  const { residentMiB, ownMiB } = subject.memory();
  progress(`${server}: lists and watches of ${volumes} volumes`);
  const whole = await listAll(subject);
  const pagedMs = await listPaged(subject);
  const watchMs = await watchAll(subject, volumes);
  const deliveriesPerSecond = await fanOut(subject, 100, fanOutWrites);
  return [
    { work: 'memory', server, volumes, residentMiB, ownMiB },
    { work: 'lists', server, volumes, wholeMs: whole.ms, mib: whole.mib, pagedMs, watchMs },
    { work: 'fan-out', server, watchers: 100, deliveriesPerSecond },
  ];
}

/** How many times better ours is, in the same run on the same machine. */
function ratios(ours: readonly Row[], theirs: readonly Row[]): readonly Row[] {
  const measures = [
    { what: 'start', work: 'start', column: 'ms', isCost: true },
    { what: 'creates', work: 'requests', verb: 'create', column: 'perSecond', isCost: false },
    { what: 'gets', work: 'requests', verb: 'get', column: 'perSecond', isCost: false },
    { what: 'patches', work: 'requests', verb: 'patch', column: 'perSecond', isCost: false },
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

/** The median cost of making a small write durable, with nothing else going on. */
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
