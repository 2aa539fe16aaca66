import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smallestEnough } from './smallest-amount.ts';

test('finds the smallest amount that is enough', () => {
  const amounts = fc.oneof(fc.nat(50), fc.nat(20_000), fc.maxSafeNat());
  fc.assert(
    fc.property(amounts, amounts, fc.integer({ min: 0, max: 2 }), (one, other, least) => {
      const enough = Math.max(one, other, least);
      const wanted = Math.max(Math.min(one, other), least);
      const asked: number[] = [];
      const found = smallestEnough(least, enough, (amount) => {
        asked.push(amount);
        return amount >= wanted;
      });
      expect(found).toBe(wanted);
      expect(asked.every((amount) => amount >= least && amount < enough)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['the proposed amount', 50 * 2 ** 30, 50 * 2 ** 30, 1],
  ['whole gibibytes', 50 * 2 ** 30, 13 * 2 ** 30, 8],
  ['whole mebibytes', 50 * 2 ** 30, 513 * 2 ** 20, 19],
  ['whole cores', 8_000, 2_000, 5],
])('needs few calls for %s', (_, enough, wanted, most) => {
  let asked = 0;
  const found = smallestEnough(1, enough, (amount) => {
    asked += 1;
    return amount >= wanted;
  });
  expect(found).toBe(wanted);
  expect(asked).toBeLessThanOrEqual(most);
});
