import { expect, test } from 'vitest';
import { parseInt64 } from './int64.ts';

test.each([
  ['0', 0n],
  ['007', 7n],
  ['-3', -3n],
  ['+7', 7n],
  ['-0', 0n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  [`-${'0'.repeat(5000)}12`, -12n],
])('%.25s is read', (text, expected) => {
  expect(parseInt64(text)).toBe(expected);
});

test.each([
  '',
  '-',
  '+',
  '1.0',
  '1e3',
  '0x10',
  ' 1',
  '1_000',
  '९',
  '9223372036854775808',
  '-9223372036854775809',
  '9'.repeat(5000),
])('%.25s is not a 64-bit integer', (text) => {
  expect(parseInt64(text)).toBeUndefined();
});
