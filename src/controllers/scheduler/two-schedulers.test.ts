import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CompetitionOptions, runCompetingSchedulers } from './testing/competing-schedulers.ts';

const rivalries: fc.Arbitrary<CompetitionOptions> = fc.record({
  seed: fc.nat(),
  completes: fc.boolean(),
  disks: fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 3 }),
  pods: fc.array(fc.record({ existing: fc.nat({ max: 2 }), made: fc.nat({ max: 1 }) }), {
    minLength: 1,
    maxLength: 6,
  }),
});

test('two schedulers of one name never give a volume twice, and forget no pod', async () => {
  await fc.assert(
    fc.asyncProperty(rivalries, async (rivalry) => {
      const { wrongs, before, after } = await runCompetingSchedulers(rivalry);
      expect(wrongs).toEqual([]);
      expect(after).toEqual(before);
    }),
    { numRuns: 50 },
  );
}, 60_000);
