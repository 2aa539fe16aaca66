import { expect, test } from 'vitest';
import { canonicalMicroTime, canonicalTime, timeParseError } from './kubernetes-time.ts';
import { formatRfc3339, parseRfc3339 } from './rfc3339.ts';

test.each([
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
  ['2024-02-29T23:59:59.120Z', '2024-02-29T23:59:59.12Z'],
  ['1969-12-31T23:59:59,5-01:30', '1969-12-31T23:59:59.5-01:30'],
  ['2024-01-01T1:00:00Z', '2024-01-01T01:00:00Z'],
])('%s is read and written as %s', (text, written) => {
  const time = parseRfc3339(text);
  expect(time && formatRfc3339(time)).toBe(written);
});

test.each(['2023-02-29T00:00:00Z', '2024-01-01T24:00:00Z', '2024-01-01', '2024-01-01T00:00:00+25:00'])(
  '%s is not a time',
  (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
    expect(canonicalTime(text)).toBeUndefined();
  },
);

test('a stored time is UTC, in whole seconds or with six digits', () => {
  expect(canonicalTime('2024-01-01T01:30:00.9+01:00')).toBe('2024-01-01T00:30:00Z');
  expect(canonicalMicroTime('2024-01-01T01:30:00.123456+01:00')).toBe('2024-01-01T00:30:00.123456Z');
  expect(canonicalMicroTime('2024-01-01T01:30:00.1234567Z')).toBeUndefined();
});

test('a wrong zone is named', () => {
  const text = '2024-01-01T00:00:00+25:00';
  expect(timeParseError(text, false)).toBe(`parsing time "${text}": time zone offset hour out of range`);
});
