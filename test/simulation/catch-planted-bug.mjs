import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const child = fileURLToPath(new URL('./run-seeds.mjs', import.meta.url));
/** As in `vitest.config.ts`: most children end before optimized code pays for its compilation. */
const shortLived = process.version.startsWith('v20.') ? ['--interrupt-budget=2000000'] : [];

/** A child that prints nothing for so long is ended: the bug has made the program run without end. */
const silenceMaxMs = 300_000;

/**
 * Looks for the first seed that catches a planted bug, from `firstSeed` to the bug's `seedsMax`. A seed counts only if it is
 * clean without the bug: a violation that takes place anyway says nothing about the bug.
 *
 * `mutated` is the compiled file with the bug; `baseline` remembers which seeds are clean, for all bugs of one build.
 */
export async function catchPlantedBug(bug, { build, mutated, baseline, firstSeed = 1 }) {
  const module = bug.file.replace(/^src\//, '').replace(/\.ts$/, '.js');
  let seeds = 0;
  let dirtySeeds = 0;
  const { subject = 'pods' } = bug;
  for (let from = firstSeed; from <= bug.seedsMax; ) {
    const range = { from, to: bug.seedsMax, skip: baseline.knownDirty };
    const { seed, violation, count, ending } = await runSeeds({ build, ...range, subject, module, mutated });
    seeds += count;
    if (ending !== undefined) return { bug, isCaught: false, seeds, dirtySeeds, ending };
    if (violation === null) break;
    if (await baseline.isClean(seed)) return { bug, isCaught: true, seed, seeds, dirtySeeds, ...violation };
    dirtySeeds += 1;
    from = seed + 1;
  }
  return { bug, isCaught: false, seeds, dirtySeeds, ending: 'no invariant was broken' };
}

/** The seeds of a build that are clean without any bug, each simulated when it is first asked for. */
export class Baseline {
  #build;
  #clean = new Map();
  #dirty = [];

  constructor(build) {
    this.#build = build;
  }

  /** Seeds, separated by commas. */
  get knownDirty() {
    return this.#dirty.join(',');
  }

  isClean(seed) {
    const known = this.#clean.get(seed);
    if (known !== undefined) return known;
    const clean = this.#check(seed);
    this.#clean.set(seed, clean);
    return clean;
  }

  async #check(seed) {
    const { violation, ending } = await runSeeds({ build: this.#build, from: seed, to: seed });
    const isClean = violation === null && ending === undefined;
    if (!isClean) this.#dirty.push(seed);
    return isClean;
  }
}

/**
 * Resolves with the last seed that was simulated, its first violation, and how many seeds were simulated; `ending` says why the child
 * ended early.
 */
function runSeeds(given) {
  const flags = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const running = spawn(process.execPath, [...shortLived, child, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let last = { seed: given.from, violation: null };
  let count = 0;
  let errors = '';
  let ending;
  const stop = () => {
    ending = 'a seed did not end';
    running.kill('SIGKILL');
  };
  let timer = setTimeout(stop, silenceMaxMs);
  running.stderr.on('data', (data) => {
    errors = `${errors}${data}`.slice(-2_000);
  });
  createInterface({ input: running.stdout }).on('line', (line) => {
    last = JSON.parse(line);
    count += 1;
    clearTimeout(timer);
    timer = setTimeout(stop, silenceMaxMs);
  });
  return new Promise((resolve) => {
    running.on('close', (code) => {
      clearTimeout(timer);
      if (code !== 0) ending ??= `the child process failed: ${errors.trim()}`;
      resolve({ ...last, count, ending });
    });
  });
}
