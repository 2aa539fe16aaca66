import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BackoffOptions, exponentialBackoff } from './backoff.ts';
import { type Random, seededRandom } from './random.ts';

const options: BackoffOptions = { baseMs: 100, maxMs: 1_000, factor: 2, jitter: 'full' };

/** A stream that always draws the same value, to test the ends of the range. */
function constant(value: number): Random {
  const random: Random = { ...seededRandom(0), next: () => value, fork: () => random };
  return random;
}

test.each([
  { attempt: 0, ceilingMs: 100 },
  { attempt: 1, ceilingMs: 200 },
  { attempt: 3, ceilingMs: 800 },
  { attempt: 4, ceilingMs: 1_000 },
  { attempt: 5_000, ceilingMs: 1_000 },
])('attempt $attempt waits below $ceilingMs ms', ({ attempt, ceilingMs }) => {
  const full = exponentialBackoff(options);
  const equal = exponentialBackoff({ ...options, jitter: 'equal' });
  expect(full.delayMs(attempt, constant(0))).toBe(0);
  expect(full.delayMs(attempt, constant(0.5))).toBe(ceilingMs / 2);
  expect(equal.delayMs(attempt, constant(0))).toBe(ceilingMs / 2);
  expect(equal.delayMs(attempt, constant(0.5))).toBe(ceilingMs * 0.75);
});

test('no delay is longer than the maximum or shorter than its jitter allows, whatever the options', () => {
  const anyOptions = fc.record({
    baseMs: fc.integer({ min: 1, max: 10_000 }),
    maxMs: fc.integer({ min: 10_000, max: 1_000_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.constantFrom<'full' | 'equal'>('full', 'equal'),
  });
  fc.assert(
    fc.property(anyOptions, fc.nat({ max: 10_000 }), fc.integer(), (drawn, attempt, seed) => {
      const delayMs = exponentialBackoff(drawn).delayMs(attempt, seededRandom(seed));
      expect(delayMs).toBeLessThanOrEqual(drawn.maxMs);
      expect(delayMs).toBeGreaterThanOrEqual(drawn.jitter === 'equal' ? drawn.baseMs / 2 : 0);
    }),
  );
});

test.each([
  { baseMs: 0 },
  { baseMs: 2_000 },
  { maxMs: Number.POSITIVE_INFINITY },
  { factor: 0.5 },
  { factor: Number.NaN },
])('invalid options are refused: %o', (wrong) => {
  expect(() => exponentialBackoff({ ...options, ...wrong })).toThrow('back-off');
});

test.each([-1, 0.5, Number.NaN])('an attempt of %s is refused', (attempt) => {
  expect(() => exponentialBackoff(options).delayMs(attempt, seededRandom(1))).toThrow('attempts');
});
