import { expect, test } from 'vitest';
import { bytesOf, quantityOfBytes } from './bytes.ts';

test.each([
  ['10Gi', 10n * 1024n ** 3n],
  [5, 5n],
  ['100m', 1n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['ten', 0n],
  [undefined, 0n],
])('%j has %s bytes', (quantity, bytes) => expect(bytesOf(quantity)).toBe(bytes));

test('bytes are written as Kubernetes writes them, exactly', () => {
  expect([10n * 1024n ** 3n, -(1024n ** 2n), 85_791_971_123n, 0n].map(quantityOfBytes)).toEqual([
    '10Gi',
    '-1Mi',
    '85791971123',
    '0',
  ]);
});
