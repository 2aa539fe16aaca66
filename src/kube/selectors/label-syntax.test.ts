import { expect, test } from 'vitest';
import { isLabelKey, isLabelValue } from './label-syntax.ts';

test.each([
  'a',
  'A',
  '1',
  'a-b',
  'a_b.c',
  'kubernetes.io/hostname',
  '1.2/a',
  'a'.repeat(63),
  `${'a.'.repeat(126)}a/x`,
  'constructor',
  // A prefix has no limit per label of its own.
  `${'a'.repeat(64)}/x`,
])('%.40s is a label key', (text) => {
  expect(isLabelKey(text)).toBe(true);
});

test.each([
  '',
  '-a',
  'a-',
  '.a',
  '_',
  'a b',
  'é',
  'a/',
  '/a',
  'a/b/c',
  'A.com/a',
  'a_b/c',
  'a..b/c',
  '-a/b',
  'a-/b',
  'a'.repeat(64),
  `${'a.'.repeat(127)}/x`,
  '__proto__',
  undefined,
  null,
  7,
])('%.40s is not a label key', (text) => {
  expect(isLabelKey(text)).toBe(false);
});

test.each(['', 'a', 'A.b_c-d', '05', 'a'.repeat(63)])('%j is a label value', (text) => {
  expect(isLabelValue(text)).toBe(true);
});

test.each(['-3', '+7', 'a ', 'a/b', 'ü', 'a'.repeat(64), undefined, null, 7])(
  '%j is not a label value',
  (text) => {
    expect(isLabelValue(text)).toBe(false);
  },
);
