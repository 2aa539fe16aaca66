import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { minimize } from '../minimize.ts';
import { scenarioOfSeed } from '../seed-scenario.ts';
import { type SimulationResult, simulate } from '../simulation.ts';

const seedsPerTest = 5;
/** Enough for a small scenario, and not too long for a test that fails anyway. */
const minimizingRunsMax = 100;

/** The cost of a seed grows with its actions. Tests take the seeds below this, so that they are many; a soak takes all. */
const actionsMax = 40;

/**
 * Defines tests that simulate `count` seeds, the first of which has `skip` seeds before it. SIMULATION_SEEDS=N makes each batch N times as
 * long. A seed that breaks an invariant is reported with the smallest scenario that breaks it, and the command that replays it.
 */
export function testSeeds({ skip, count }: { readonly skip: number; readonly count: number }): void {
  const factor = Number(process.env.SIMULATION_SEEDS ?? 1);
  const all = shortSeeds((skip + count) * factor).slice(skip * factor);
  for (let at = 0; at < all.length; at += seedsPerTest * factor) {
    const seeds = all.slice(at, at + seedsPerTest * factor);
    test(`seeds ${seeds.join(', ')} keep every invariant`, async () => {
      for (const seed of seeds) {
        const result = await simulate(scenarioOfSeed(seed));
        if (result.violations.length > 0) expect.fail(await failureText(seed, result));
        expect(result.versions).toBeGreaterThan(0);
      }
    });
  }
}

function shortSeeds(count: number): readonly number[] {
  const seeds: number[] = [];
  for (let seed = 1; seeds.length < count; seed += 1)
    if (scenarioOfSeed(seed).actions.length <= actionsMax) seeds.push(seed);
  return seeds;
}

async function failureText(seed: number, { scenario, violations, trace }: SimulationResult): Promise<string> {
  const { scenario: smallest } = await minimize(scenario, violations[0]!, { runsMax: minimizingRunsMax });
  return [
    `seed ${seed} breaks an invariant: ${violations[0]?.invariant}`,
    `  ${violations[0]?.detail}`,
    ...trace.slice(-20),
    `the smallest scenario (${smallest.actions.length} of ${scenario.actions.length} actions):`,
    stringify(smallest),
    `replay: npm run build && node dist/cli/main.js simulate --seed ${seed} --trace`,
  ].join('\n');
}
