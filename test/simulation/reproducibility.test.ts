import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Scenario } from '../../src/simulation/scenario.ts';
import { scenarioOfSeed } from '../../src/simulation/seed-scenario.ts';
import { simulate } from '../../src/simulation/simulation.ts';
import { builtProgram, compiledCodeFolder, shortLived } from '../built-program.ts';

const program = builtProgram(new URL('../../src/cli/main.ts', import.meta.url));

/** The first seed of a kind, and not of a great length. */
function seedWith(isOfKind: (scenario: Scenario) => boolean): number {
  for (let seed = 1; ; seed += 1) {
    const scenario = scenarioOfSeed(seed);
    if (scenario.actions.length < 40 && isOfKind(scenario)) return seed;
  }
}

const acts = ({ actions }: Scenario, name: string) => actions.some(({ action }) => action === name);

test.each([
  ['leaders and latency', seedWith((one) => one.latencyMaxMs > 0 && one.replicated.includes('volumes'))],
  ['crashes and lost responses', seedWith((one) => acts(one, 'crash-after') && acts(one, 'lost-response'))],
  ['disks', seedWith(({ subject }) => subject === 'disks')],
])(
  'a seed with %s gives the same trace twice in one process, and in another with another time zone and language',
  async (_, seed) => {
    const [first, second] = [await simulate(scenarioOfSeed(seed)), await simulate(scenarioOfSeed(seed))];
    expect(first.trace.length).toBeGreaterThan(50);
    expect(second.trace).toEqual(first.trace);
    const caches = { XDG_CACHE_HOME: compiledCodeFolder() };
    const env = { ...process.env, ...caches, TZ: 'Asia/Kolkata', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
    const args = [...shortLived, program, 'simulate', '--seed', String(seed), '--trace', '-o', 'json'];
    // A seed that breaks an invariant exits with 1: the tests of seeds report that, and its trace counts all the same.
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 28 }).catch(
      (error) => error,
    );
    expect(JSON.parse(stdout).runs[0].trace).toEqual(first.trace);
  },
);
