/**
 * npm run fuzz -- [SECONDS] [--seed N] [--only TEXT]: looks for texts that take a parser more than linear time. Each text repeats a random
 * shape. A shape is reported if its text is doubled four times, and each time takes more than 2.5 times the CPU time, best of three runs.
 * Exit status 1 if a shape takes longer; the report has the shape, which should become a test that counts steps.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

const root = fileURLToPath(new URL('..', import.meta.url));
const workerFile = new URL('./fuzz/shape-worker.mjs', import.meta.url);
/** The largest text is parsed in about a second. A shape that takes this long is reported, and its worker ended. */
const shapeMaxMs = 60_000;

const { seconds, seed, only } = readFlags();
const build = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' });
process.exitCode = build.status === 0 ? await fuzz() : 1;

async function fuzz() {
  const counts = new Map();
  const findings = [];
  const endMs = Date.now() + seconds * 1000;
  for (let next = seed; Date.now() < endMs; ) next = await runWorker(next, { endMs, counts, findings });
  for (const [parser, count] of [...counts].sort()) console.log(`${parser}: ${count} shapes`);
  console.log(`${findings.length} shapes take more than linear time`);
  return findings.length === 0 ? 0 : 1;
}

/** Runs shapes from the seed on until the time is over or a shape never ends; returns the next seed. */
async function runWorker(first, { endMs, counts, findings }) {
  const worker = new Worker(workerFile, { workerData: { first, endMs, only } });
  let current = first;
  let shape = '';
  let watchdog;
  const found = (text) => {
    findings.push(text);
    console.log(text);
  };
  await new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.on('exit', resolve);
    worker.on('message', (message) => {
      clearTimeout(watchdog);
      if (message.finding !== undefined) return found(message.finding);
      ({ current, shape } = message);
      counts.set(message.parser, (counts.get(message.parser) ?? 0) + 1);
      watchdog = setTimeout(() => {
        found(`${shape}: takes more than ${shapeMaxMs / 1000} s`);
        void worker.terminate();
      }, shapeMaxMs);
    });
  });
  clearTimeout(watchdog);
  return current + 1;
}

function readFlags() {
  const usage = 'usage: npm run fuzz -- [SECONDS] [--seed N] [--only TEXT]';
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [wanted = '60', ...rest] = positionals;
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  if (rest.length > 0 || !/^\d+$/.test(wanted) || !/^\d+$/.test(values.seed)) {
    console.error(usage);
    process.exit(2);
  }
  return { seconds: Number(wanted), seed: Number(values.seed), only: values.only };
}
