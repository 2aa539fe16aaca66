import { describe, expect, test } from 'vitest';
import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { checkLists } from './list-types.ts';

const anything: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };
const set: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: anything };
const map: JsonSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: anything,
};

function errorsOf(list: JsonSchema, value: Json): readonly string[] {
  const errors = new FieldErrors();
  checkLists({ list: value }, { type: 'object', properties: { list } }, errors);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

describe('checkLists', () => {
  test.each<readonly [string, JsonSchema, Json, readonly string[]]>([
    ['different elements', set, [1, '1', true, null, [], {}], []],
    ['an element many times, reported once', set, ['a', 'a', 'a'], ['list[1]: Duplicate value: "a"']],
    [
      'equal objects',
      set,
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['list[1]: Duplicate value: {"a":1,"b":2}'],
    ],
    ['different keys', map, [{ name: 'a' }, { name: 'b' }, {}], []],
    ['a key twice', map, [{ name: 'a' }, { name: 'a', x: 1 }], ['list[1]: Duplicate value: {"name":"a"}']],
    ['no key twice', map, [{}, null], ['list[1]: Duplicate value: {}']],
    [
      'no object',
      map,
      [{}, 5],
      ['list[1]: Invalid value: 5: must be an object for an array of list-type map'],
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(errorsOf(schema, value)).toEqual(expected);
  });

  test('keys of maps are in brackets', () => {
    const errors = new FieldErrors();
    checkLists({ 'a.b': ['x', 'x'] }, { type: 'object', additionalProperties: set }, errors);
    expect(errors.causes.map(({ field }) => field)).toEqual(['[a.b][1]']);
  });

  test('long lists take linear time', () => {
    const elements = Array.from({ length: 20_000 }, (_, index) => ({ name: `n${index}` }));
    expect(errorsOf(set, elements)).toEqual([]);
    expect(errorsOf(map, [...elements, ...elements])).toHaveLength(20_000);
  });
});
