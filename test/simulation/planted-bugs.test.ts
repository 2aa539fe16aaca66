import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtProgram } from '../built-program.ts';
import { projectRoot } from '../project-root.ts';
import { Baseline, catchPlantedBug } from './catch-planted-bug.mjs';
import { compileMutations, mutatedSource } from './mutation.mjs';
import { plantedBugs } from './planted-bugs.mjs';

const folder = mkdtempSync(join(tmpdir(), 'stowage-planted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each is caught by nearly every seed, so that a change of the scenarios does not matter. All others: npm run soak -- --planted. */
const caughtSoon = [
  'a volume that is being provisioned counts as bound',
  'a pod runs without the mark that its claims are mounted',
  'a promise is counted twice',
  'the intent is not removed from a claim that has its volume',
];
/** A short scenario, which shows all of them. If it no longer does, the test takes the next seeds as well. */
const firstSeed = 17;

test('the text that a planted bug replaces occurs exactly once', () => {
  for (const bug of plantedBugs) expect(mutatedSource(projectRoot, bug), bug.name).not.toBe('');
});

test('the names of planted bugs are unique', () => {
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

test('planted bugs can be compiled, and the simulation catches some of them', async () => {
  const build = dirname(dirname(builtProgram(new URL('../../src/cli/main.ts', import.meta.url))));
  const files = compileMutations(projectRoot, plantedBugs, folder);
  const baseline = new Baseline(build);
  for (const name of caughtSoon) {
    const at = plantedBugs.findIndex((bug) => bug.name === name);
    const bug = plantedBugs[at]!;
    const result = await catchPlantedBug(bug, { build, mutated: files[at] ?? '', baseline, firstSeed });
    expect(result).toMatchObject({ bug: { name }, isCaught: true });
  }
});
