import { expect, test } from 'vitest';
import { compareInt64, int64Of, nextInt64 } from './int64.ts';

test('an integer is a number up to 2^53 and a bigint beyond', () => {
  expect(int64Of(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
  expect(int64Of(2n ** 53n)).toBe(2n ** 53n);
  expect(int64Of(-(2n ** 63n))).toBe(-(2n ** 63n));
  expect(int64Of(2n ** 63n)).toBeUndefined();
});

test('counting crosses 2^53 in both directions, and wraps around as in Go', () => {
  expect(nextInt64(1)).toBe(2);
  expect(nextInt64(2 ** 53 - 1)).toBe(2n ** 53n);
  expect(nextInt64(2n ** 53n)).toBe(2n ** 53n + 1n);
  expect(nextInt64(-(2n ** 53n))).toBe(-(2 ** 53) + 1);
  expect(nextInt64(2n ** 63n - 1n)).toBe(-(2n ** 63n));
});

test('numbers and bigints have one order', () => {
  expect([2n ** 60n, 3, -(2n ** 60n), 2n ** 60n + 1n].sort(compareInt64)).toEqual([
    -(2n ** 60n),
    3,
    2n ** 60n,
    2n ** 60n + 1n,
  ]);
});
