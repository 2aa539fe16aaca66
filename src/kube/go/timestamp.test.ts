import { expect, test } from 'vitest';
import { parseTimestamp } from './timestamp.ts';

test.each([
  ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
  ['2026-01-31T12:00:00+02:00', Date.UTC(2026, 0, 31, 10)],
  ['2026-01-31T12:00:00.123456Z', Date.UTC(2026, 0, 31, 12, 0, 0, 123)],
])('%s is a time', (text, ms) => {
  expect(parseTimestamp(text)).toBe(ms);
});

test.each([
  '',
  '5',
  'Nov 15 2026',
  '2026-01-31',
  '2026-01-31T12:00:00',
  '2026-13-31T12:00:00Z',
  5,
  null,
  undefined,
])('%s is not a time', (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});
