import { describe, expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import {
  checkNonNegativeQuantity,
  checkPositiveQuantity,
  equalResources,
  isWholeQuantity,
} from './quantities.ts';

describe('signs', () => {
  test.each([
    [
      '-1m',
      ['Invalid value: "-1m": must be greater than or equal to 0'],
      ['Invalid value: "-1m": must be greater than zero'],
    ],
    ['0', [], ['Invalid value: "0": must be greater than zero']],
    ['1n', [], []],
  ])('%s', (text, negative, notPositive) => {
    expect(problemsOf((errors) => checkNonNegativeQuantity(errors, 'f', text))).toEqual(negative);
    expect(problemsOf((errors) => checkPositiveQuantity(errors, 'f', text))).toEqual(notPositive);
  });
});

test.each([
  ['1', true],
  ['1Gi', true],
  ['1500m', false],
  ['2000m', true],
  ['999999u', true],
  ['1500500u', false],
])('%s in thousandths, rounded up, is whole: %s', (text, expected) => {
  expect(isWholeQuantity(text)).toBe(expected);
});

test.each([
  ['the same amount, written otherwise', { storage: '1Gi' }, { storage: '1073741824' }, true],
  ['another amount', { storage: '1Gi' }, { storage: '1G' }, false],
  ['another resource', { storage: '1' }, { memory: '1' }, false],
  ['one more resource', { storage: '1' }, { storage: '1', memory: '1' }, false],
  ['none and an empty list', undefined, {}, true],
])('resources with %s', (_name, a, b, expected) => {
  expect(equalResources(a, b)).toBe(expected);
  expect(equalResources(b, a)).toBe(expected);
});

function problemsOf(check: (errors: FieldErrors) => void): readonly (string | undefined)[] {
  const errors = new FieldErrors();
  check(errors);
  return errors.causes.map(({ message }) => message);
}
