import { expect, test } from 'vitest';
import { scenarioOfSeed } from './seed-scenario.ts';
import { simulate } from './simulation.ts';

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.SEEDS ?? 5);

test('seeds', async () => {
  let failed = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const start = performance.now();
    const result = await simulate(scenarioOfSeed(seed));
    console.log(
      seed,
      Math.round(performance.now() - start),
      'ms',
      result.versions,
      'versions',
      result.trace.length,
      result.coverage.faults,
      JSON.stringify(result.violations.slice(0, 3)),
    );
    if (process.env.TRACE) console.log(result.trace.join('\n'));
    failed += result.violations.length > 0 ? 1 : 0;
  }
  expect(failed).toBe(0);
});
