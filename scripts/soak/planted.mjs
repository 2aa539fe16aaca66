/**
 * Catches the planted bugs of test/simulation: prints a table of which seed and which invariant caught each of them. Ends with exit
 * code 1 if one was not caught.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Baseline, catchPlantedBug } from '../../test/simulation/catch-planted-bug.mjs';
import { compileMutations } from '../../test/simulation/mutation.mjs';
import { plantedBugs } from '../../test/simulation/planted-bugs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * `only`: a part of the names of the bugs to try. `json`: the file for the results. `parallel`: how many child processes run at the
 * same time. Resolves with the exit code.
 */
export async function soakPlanted({ only = '', json, parallel = 2 } = {}) {
  const bugs = plantedBugs.filter(({ name }) => name.includes(only));
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'stowage-planted-'));
  try {
    const files = compileMutations(root, bugs, folder);
    const results = await catchAll(bugs, files, parallel);
    printTable(results);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
    const caught = results.filter(({ isCaught }) => isCaught).length;
    process.stdout.write(`${caught} of ${results.length} planted bugs caught\n`);
    return caught === results.length ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Results in the order of the table, in whatever order the runs end. */
async function catchAll(bugs, files, parallel) {
  const build = join(root, 'dist');
  const baseline = new Baseline(build);
  const results = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < bugs.length; at = next++) {
      results[at] = await catchPlantedBug(bugs[at], { build, mutated: files[at], baseline });
      const done = results.filter((result) => result !== undefined).length;
      process.stderr.write(`${done} of ${bugs.length}: ${outcomeOf(results[at])}: ${bugs[at].name}\n`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}

function outcomeOf({ isCaught, seed, seeds }) {
  return isCaught ? `seed ${seed}` : `not caught by ${seeds} seeds`;
}

function printTable(results) {
  const rows = results.map((result) => [
    result.bug.name,
    result.isCaught ? `seed ${result.seed}` : 'no',
    result.isCaught ? result.invariant : result.ending,
  ]);
  const lines = [['PLANTED BUG', 'CAUGHT', 'BY'], ...rows];
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => line[column].length)));
  for (const [name, caught, by] of lines)
    process.stdout.write(`${name.padEnd(widths[0])}  ${caught.padEnd(widths[1])}  ${by}\n`);
}
