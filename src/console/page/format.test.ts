import { expect, test } from 'vitest';
import { shownBytes, shownQuantity } from './format.ts';

test.each([
  ['40Gi', '40 GiB'],
  ['1500Mi', '1.46 GiB'],
  ['-10Gi', '−10 GiB'],
  ['0', '0 B'],
  ['unknown', 'unknown'],
])('the quantity %s is shown as %s, as other amounts are', (quantity, text) => {
  expect(shownQuantity(quantity)).toBe(text);
});

test('an amount is rounded down', () => {
  expect(shownBytes(2 ** 30 * 79.99)).toBe('79.9 GiB');
});
