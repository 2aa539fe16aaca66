import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { minimize } from '../minimize.ts';
import { scenarioOfSeed } from '../seed-scenario.ts';
import { type SimulationResult, simulate } from '../simulation.ts';

const seedsPerTest = 5;
/** Enough for a small scenario, and not too long for a test that fails anyway. */
const minimizingRunsMax = 100;

/**
 * Defines tests that simulate seeds `first` to `last`. SIMULATION_SEEDS=N makes each batch N times as long. A seed that breaks an
 * invariant is reported with the smallest scenario that breaks it, and the command that replays it.
 */
export function testSeeds(first: number, last: number): void {
  const factor = Number(process.env.SIMULATION_SEEDS ?? 1);
  for (let from = first; from <= last; from += seedsPerTest) {
    const seeds = Array.from({ length: Math.min(seedsPerTest, last - from + 1) }, (_, at) => from + at);
    const more = seeds.flatMap((seed) => Array.from({ length: factor }, (_, at) => seed + at * 10_000));
    test(`seeds ${from} to ${seeds.at(-1)} keep every invariant`, async () => {
      for (const seed of more) {
        const result = await simulate(scenarioOfSeed(seed));
        if (result.violations.length > 0) expect.fail(await failureText(seed, result));
        expect(result.versions).toBeGreaterThan(0);
      }
    });
  }
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
