import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbStep, type HistoryOptions, PromiseHistory } from '../testing/promise-history.ts';

const forms = ['CSIStorageCapacity', 'DriverCapacity'] as const;
const options: readonly HistoryOptions[] = forms.flatMap((form) => [
  { form, isMeasured: true, hasExactTimes: true },
  { form, isMeasured: true, hasExactTimes: false },
  { form, isMeasured: false, hasExactTimes: true },
]);

describe.each(options)('the accounting of a pool, %o,', (given) => {
  test('deducts every volume that the capacity report lacks, and no other that is known to be in it', () => {
    fc.assert(
      fc.property(fc.array(arbStep, { maxLength: 50, size: 'max' }), (steps) => {
        const history = new PromiseHistory(given);
        for (const step of steps) {
          history.apply(step);
          expect(history.available).toBeLessThanOrEqual(history.truth);
          if (!history.isAmbiguous) expect(history.available).toBe(history.truth);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('is that of a new index of the same objects, if promises are not remembered', () => {
    fc.assert(
      fc.property(fc.array(arbStep, { maxLength: 40, size: 'max' }), (steps) => {
        const history = new PromiseHistory({ ...given, remembersPromises: false });
        for (const step of steps) {
          history.apply(step);
          expect(history.available).toBe(history.availableByObjects);
        }
      }),
      { numRuns: 40 },
    );
  });
});
