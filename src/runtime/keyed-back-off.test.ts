import { expect, test } from 'vitest';
import { KeyedBackOff } from './keyed-back-off.ts';

function backOffAt(clock: { nowMs: number }): KeyedBackOff {
  return new KeyedBackOff({ monotonicMs: () => clock.nowMs }, { initialMs: 100, maxMs: 300 });
}

test('the delay doubles with each failure of a key up to its maximum, and starts again when the key is forgotten', () => {
  const backOff = backOffAt({ nowMs: 0 });
  expect([1, 2, 3, 4].map(() => backOff.failed('a'))).toEqual([100, 200, 300, 300]);
  expect(backOff.failed('b')).toBe(100);
  expect(backOff.failures('a')).toBe(4);
  backOff.forget('a');
  expect(backOff.failures('a')).toBe(0);
  expect(backOff.failed('a')).toBe(100);
});

test('the work waits for the rest of its delay', () => {
  const clock = { nowMs: 1_000 };
  const backOff = backOffAt(clock);
  expect(backOff.remainingMs('a')).toBe(0);
  backOff.failed('a');
  clock.nowMs = 1_060;
  expect(backOff.remainingMs('a')).toBe(40);
  clock.nowMs = 1_200;
  expect(backOff.remainingMs('a')).toBe(0);
});

test('work with another target need not wait, and its failures are counted from one', () => {
  const backOff = backOffAt({ nowMs: 0 });
  backOff.failed('a', '1Gi');
  backOff.failed('a', '1Gi');
  expect(backOff.remainingMs('a', '2Gi')).toBe(0);
  expect(backOff.failed('a', '2Gi')).toBe(100);
});

test('work that cannot succeed waits for the longest delay', () => {
  expect(backOffAt({ nowMs: 0 }).failed('a', '', { isFutile: true })).toBe(300);
});
