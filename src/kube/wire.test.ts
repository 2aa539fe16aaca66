import { describe, expect, test } from 'vitest';
import { isRecord, joinField, listOf, lookUp, textOf } from './wire.ts';

describe('a list', () => {
  test.each([[undefined], [null], ['abc'], [{ length: 1 }], [7]])('is empty where there is %s', (value) => {
    expect(listOf(value as unknown as readonly string[])).toEqual([]);
  });

  test('is itself where there is one', () => {
    const list = ['a'];
    expect(listOf(list)).toBe(list);
  });
});

test.each([[undefined], [null], [7], [{}]])('a text is empty where there is %s', (value) => {
  expect(textOf(value)).toBe('');
});

describe('looking up a label', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('finds no inherited %s', (key) => {
    expect(lookUp({}, key)).toBeUndefined();
  });

  test.each(['constructor', '__proto__', 'zone'])('finds an own %s', (key) => {
    expect(lookUp(JSON.parse(`{"${key}": "a"}`), key)).toBe('a');
  });

  test.each([[undefined], [null], ['text'], [7], [{ zone: 7 }]])('finds nothing in %j', (labels) => {
    expect(lookUp(labels as unknown as Record<string, string>, 'zone')).toBeUndefined();
  });
});

test.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  ['a', false],
])('%j is a record: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

test('a field without a parent has no leading dot', () => {
  expect([joinField('', 'a'), joinField('a', 'b')]).toEqual(['a', 'a.b']);
});
