/**
 * The embedded API server over TLS, loaded from this process: two cores are shared by both. Writes are durable when they are
 * answered; what a flush to this disk costs is printed beside them, because it bounds them.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Benchmark, type Row, rounded } from '../harness.ts';
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

export const apiserver: Benchmark = {
  name: 'apiserver',
  summary: 'start, durable writes, reads, lists, watches and memory of the embedded API server',
  async run(progress) {
    const rows: Row[] = [{ work: 'disk', flushMicroseconds: flushMicroseconds() }];
    for (const start of [startStowage]) {
      const subject = await start();
      progress(`${subject.name}: answered after ${Math.round(subject.startMs)} ms`);
      try {
        rows.push({ work: 'start', server: subject.name, ms: rounded(subject.startMs) });
        rows.push(...(await measureRates(subject, progress)), ...(await measureMany(subject, progress)));
      } finally {
        await subject.close();
      }
    }
    return rows;
  },
};

async function measureRates(subject: Subject, progress: (text: string) => void): Promise<readonly Row[]> {
  const server = subject.name;
  progress(`${server}: creates, gets and patches with ${writers} clients`);
  await rateOf(subject, writers, 5_000, createVolume('warm'));
  const created = await rateOf(subject, writers, 20_000, createVolume('disk'));
  const got = await rateOf(subject, writers, 40_000, getVolume('disk', 20_000));
  const patched = await rateOf(subject, writers, 20_000, patchVolume('disk', 20_000));
  return [
    { work: 'requests', server, verb: 'create', clients: writers, ...created },
    { work: 'requests', server, verb: 'get', clients: writers, ...got },
    { work: 'requests', server, verb: 'patch', clients: writers, ...patched },
  ];
}

async function measureMany(subject: Subject, progress: (text: string) => void): Promise<readonly Row[]> {
  const server = subject.name;
  progress(`${server}: filling up to ${volumes} volumes`);
  await rateOf(subject, writers, volumes - 25_000, createVolume('more'));
  const memoryMiB = subject.memoryMiB();
  progress(`${server}: lists and watches of ${volumes} volumes`);
  const whole = await listAll(subject);
  const pagedMs = await listPaged(subject);
  const watchMs = await watchAll(subject, volumes);
  const deliveriesPerSecond = await fanOut(subject, 100, 2_000);
  return [
    { work: 'memory', server, volumes, memoryMiB, afterListsMiB: subject.memoryMiB() },
    { work: 'lists', server, volumes, wholeMs: whole.ms, mib: whole.mib, pagedMs, watchMs },
    { work: 'fan-out', server, watchers: 100, deliveriesPerSecond },
  ];
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
