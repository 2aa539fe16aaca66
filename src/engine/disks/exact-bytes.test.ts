import { expect, test } from 'vitest';
import { missingBytesText } from './exact-bytes.ts';

const gib = 2 ** 30;

test.each([
  [20, '20Gi free, 80Gi requested: 60Gi missing'],
  [0, '0 bytes free, 80Gi requested: 80Gi missing'],
  [-20, '20Gi above the limit, 80Gi requested: 100Gi missing'],
])('a disk with %d GiB free', (free, text) => {
  const amounts = { free: free * gib, requested: 80 * gib, missing: (80 - free) * gib };
  expect(missingBytesText(amounts)).toBe(text);
});
