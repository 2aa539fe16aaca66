import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { type CompetitionOptions, runCompetingSchedulers } from './testing/competing-schedulers.ts';

const competitions: fc.Arbitrary<CompetitionOptions> = fc.record({
  seed: fc.nat(),
  completes: fc.boolean(),
  disks: fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 3 }),
  pods: fc.array(fc.record({ existing: fc.nat({ max: 2 }), provisioned: fc.nat({ max: 1 }) }), {
    minLength: 1,
    maxLength: 6,
  }),
});

test('two schedulers with the same name never give a volume to two claims, and miss no pod', async () => {
  await fc.assert(
    fc.asyncProperty(competitions, async (options) => {
      const { violations, before, after } = await runCompetingSchedulers(options);
      expect(violations).toEqual([]);
      expect(after).toEqual(before);
    }),
    { numRuns: propertyRuns(30) },
  );
});
