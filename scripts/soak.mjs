/**
 * npm run soak -- --minutes N [--seed FIRST] [--json FILE]: simulates one seed after the other on all cores, and reports what was
 * covered and which seeds broke an invariant. Exit status 1 if one did.
 * npm run soak -- --planted [--only TEXT] [--json FILE]: checks that the simulation catches bugs that are planted on purpose.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

const root = fileURLToPath(new URL('..', import.meta.url));
const progressEveryMs = 10_000;
/** A seed takes seconds. One that takes this long never ends: the system does not settle. */
const seedMaxMs = 5 * 60_000;
const workerFile = new URL('./soak/seed-worker.mjs', import.meta.url);

const values = readFlags();
process.exitCode = values.planted ? await runPlanted() : await runSeeds();

async function runPlanted() {
  const { soakPlanted } = await import('./soak/planted.mjs');
  return await soakPlanted({ only: values.only, json: values.json, parallel: availableParallelism() });
}

async function runSeeds() {
  const minutes = numberOf('--minutes', values.minutes, /^\d+(\.\d+)?$/);
  const first = numberOf('--seed', values.seed, /^\d+$/);
  const build = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' });
  if (build.status !== 0) return 1;
  const { Coverage } = await import('../dist/simulation/coverage.js');
  const { callFaults } = await import('../dist/simulation/faults/connection-faults.js');
  const total = { seeds: 0, faults: 0, versions: 0, virtualMs: 0, failing: [], coverage: new Coverage() };
  const startMs = Date.now();
  const run = { next: first, endMs: startMs + minutes * 60_000, total };
  // The first signal ends the soak with its summary, the second ends the process.
  process.once('SIGINT', () => {
    run.endMs = 0;
  });
  const progress = setInterval(() => console.log(progressText(total, startMs)), progressEveryMs);
  await Promise.all(Array.from({ length: availableParallelism() }, () => work(run)));
  clearInterval(progress);
  const gaps = total.coverage.gaps(callFaults);
  printSummary({ first, total, gaps, startMs });
  if (values.json !== undefined) writeFileSync(values.json, jsonText({ first, total, gaps, startMs }));
  return total.failing.length === 0 ? 0 : 1;
}

function readFlags() {
  const usage =
    'usage: npm run soak -- [--minutes N] [--seed FIRST] [--json FILE], or --planted [--only TEXT] [--json FILE]';
  const options = {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    planted: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  };
  try {
    const { values } = parseArgs({ options });
    if (!values.help) return values;
    console.log(usage);
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
  process.exit(0);
}

function numberOf(flag, text, pattern) {
  if (pattern.test(text)) return Number(text);
  console.error(`${flag}: "${text}" must be a number, 0 or more`);
  process.exit(2);
}

/**
 * One thread. A seed that does not end, and an error that nothing in the simulation caught, end the thread and count as violations; a new
 * thread continues.
 */
async function work(run) {
  let worker;
  while (Date.now() < run.endMs) {
    worker ??= new Worker(workerFile);
    const seed = run.next;
    run.next += 1;
    try {
      add(run.total, await resultOf(worker, seed));
    } catch (error) {
      const detail = String(error?.stack ?? error);
      fail(run.total, seed, { invariant: 'the simulation runs to its end', detail });
      await worker.terminate();
      worker = undefined;
    }
  }
  await worker?.terminate();
}

async function resultOf(worker, seed) {
  let timer;
  const result = new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread has ended')));
    timer = setTimeout(() => reject(new Error(`not ended after ${seedMaxMs / 60_000} minutes`)), seedMaxMs);
    worker.postMessage(seed);
  });
  return await result.finally(() => clearTimeout(timer));
}

function add(total, { seed, violations, coverage, faults, versions, elapsedMs }) {
  total.seeds += 1;
  total.faults += faults;
  total.versions += versions;
  total.virtualMs += elapsedMs;
  total.coverage.add(coverage);
  if (violations.length > 0) fail(total, seed, violations[0]);
}

function fail({ failing }, seed, { invariant, detail }) {
  const replay = `npx stowage simulate --seed ${seed} --trace`;
  failing.push({ seed, invariant, detail, replay });
  console.log(`seed ${seed} breaks an invariant: ${invariant}\n  ${detail}\n  ${replay}`);
}

function progressText({ seeds, faults, versions, failing }, startMs) {
  const minutes = ((Date.now() - startMs) / 60_000).toFixed(1);
  return `${minutes} min: ${seeds} seeds, ${faults} faults injected, ${versions} versions checked, ${failing.length} violations`;
}

function printSummary({ first, total, gaps, startMs }) {
  const { covered } = total.coverage;
  const triples = covered.length + gaps.length;
  console.log(`\n${progressText(total, startMs)}`);
  console.log(`seeds from ${first}; ${(total.virtualMs / 3_600_000).toFixed(1)} hours of virtual time`);
  console.log(`${covered.length} of ${triples} triples (process, fault, call) covered`);
  for (const gap of gaps) console.log(`  not covered: ${gap}`);
  for (const { seed, invariant, replay } of total.failing)
    console.log(`seed ${seed}: ${invariant}\n  ${replay}`);
}

function jsonText({ first, total, gaps, startMs }) {
  const { seeds, faults, versions, virtualMs, failing, coverage } = total;
  const minutes = (Date.now() - startMs) / 60_000;
  const report = {
    first,
    seeds,
    minutes,
    faults,
    versions,
    virtualMs,
    failing,
    covered: coverage.covered,
    gaps,
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
