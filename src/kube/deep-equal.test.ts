import { expect, test } from 'vitest';
import { isSemanticallyEqual } from './deep-equal.ts';

test.each([
  ['the same text', 'a', 'a', true],
  ['an absent and an empty list', undefined, [], true],
  ['null and an empty map', null, {}, true],
  ['an absent and an empty text', undefined, '', false],
  ['an absent number and zero', undefined, 0, false],
  ['an absent boolean and false', undefined, false, false],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['items in another order', [1, 2], [2, 1], false],
  ['an absent field and one of empties', { a: 1 }, { a: 1, b: { c: [] } }, true],
  ['a field that the other lacks', { a: 1, b: 2 }, { a: 1 }, false],
  ['a field that the first lacks', { a: 1 }, { a: 1, b: 2 }, false],
  ['a key that every object inherits', { constructor: 'x' }, {}, false],
  ['a list and a map', [], {}, true],
  ['a list and a map with content', ['a'], { 0: 'a' }, false],
  ['a text and a number', '1', 1, false],
])('%s', (_name, a, b, expected) => {
  expect(isSemanticallyEqual(a, b)).toBe(expected);
  expect(isSemanticallyEqual(b, a)).toBe(expected);
});
