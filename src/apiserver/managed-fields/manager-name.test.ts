import { expect, test } from 'vitest';
import { managerFromUserAgent } from './manager-name.ts';

test.each([
  ['kubectl/v1.36.3 (linux/amd64) kubernetes/abc', 'kubectl'],
  ['Mozilla 5', 'Mozilla 5'],
  ['a\tb\u200bc/1', 'abc'],
  ['', ''],
  ['é'.repeat(100), 'é'.repeat(64)],
])('%j writes as %j', (userAgent, manager) => {
  expect(managerFromUserAgent(userAgent)).toBe(manager);
});
