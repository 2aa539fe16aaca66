import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  difference,
  type FieldSet,
  intersection,
  leaf,
  parseFieldSet,
  pathsOf,
  recursiveDifference,
  union,
} from './field-set.ts';
import { canonicalElement, compareElements, keyElement, valueElement } from './path-element.ts';

/** Paths as texts, in no particular order: the slow and obvious model of a set. */
function model(set: FieldSet): ReadonlySet<string> {
  return new Set(pathsOf(set).map((path) => path.join(' ')));
}

const elements = ['f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:1', 'v:"s"', 'i:0'];
const paths = fc.array(fc.array(fc.constantFrom(...elements), { minLength: 1, maxLength: 4 }), {
  maxLength: 8,
});
const sets = paths.map((list) => list.reduce<FieldSet>((set, path) => union(set, single(path)), {}));

function single(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), leaf);
}

function isBelow(path: string, above: ReadonlySet<string>): boolean {
  return [...above].some((prefix) => path === prefix || path.startsWith(`${prefix} `));
}

describe('field sets', () => {
  test('agree with sets of paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [left, right] = [model(a), model(b)];
        expect(model(union(a, b))).toEqual(new Set([...left, ...right]));
        expect(model(difference(a, b))).toEqual(new Set([...left].filter((path) => !right.has(path))));
        expect(model(intersection(a, b))).toEqual(new Set([...left].filter((path) => right.has(path))));
        const outside = [...left].filter((path) => !isBelow(path, right));
        expect(model(recursiveDifference(a, b))).toEqual(new Set(outside));
      }),
    );
  });

  test('are in order and have one form, however they were computed', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const text = JSON.stringify(union(a, b));
        expect(JSON.stringify(union(b, a))).toBe(text);
        expect(JSON.stringify(parseFieldSet(shuffled(JSON.parse(text))))).toBe(text);
        expect(JSON.stringify(union(difference(a, b), intersection(a, b)))).toBe(JSON.stringify(a));
      }),
    );
  });

  test('are the same reference if nothing changes', () => {
    fc.assert(
      fc.property(sets, (a) => {
        expect(union(a, a)).toBe(a);
        expect(union(a, {})).toBe(a);
        expect(difference(a, { 'f:zz': leaf })).toBe(a);
        expect(recursiveDifference(a, { 'f:zz': leaf })).toBe(a);
      }),
    );
  });

  test.each<[string, unknown]>([
    ['a list', []],
    ['a number below a field', { 'f:a': 1 }],
    ['a step without a kind', { a: {} }],
    ['a key that is not an object', { 'k:[]': {} }],
    ['a value that is not JSON', { 'v:nope': {} }],
    ['an index that is not a number', { 'i:x': {} }],
    ['__proto__', JSON.parse('{"__proto__":{}}')],
  ])('are not read from %s', (_, value) => {
    expect(parseFieldSet(value)).toBeUndefined();
  });

  test('are read with null as a leaf, and without unknown kinds of elements', () => {
    expect(parseFieldSet({ 'f:b': null, 'z:new': {}, 'f:a': { '.': {} } })).toEqual({ 'f:a': {}, 'f:b': {} });
    expect(parseFieldSet(undefined)).toEqual({});
  });
});

describe('path elements', () => {
  test('sort fields, then keys, then values, then positions', () => {
    const sorted = [
      'f:Z',
      'f:a',
      'f:ab',
      'f:\uffee',
      'f:\u{10000}',
      'k:{"a":1}',
      'k:{"a":2}',
      'k:{"a":10}',
      'k:{"a":10,"b":1}',
      'k:{"a":"x"}',
      'k:{"b":0}',
      'v:2',
      'v:10',
      'v:"a"',
      'v:false',
      'v:true',
      'i:2',
      'i:10',
    ];
    expect(sorted.toReversed().sort(compareElements)).toEqual(sorted);
  });

  test.each([
    ['k:{ "b": 2, "a": "x" }', 'k:{"a":"x","b":2}'],
    ['v: "a"', 'v:"a"'],
    ['i:+07', 'i:7'],
    ['f:any thing', 'f:any thing'],
    ['x:unknown', undefined],
  ])('%s has the canonical notation %s', (text, expected) => {
    expect(canonicalElement(text)).toBe(expected);
  });

  test('are written as Go writes JSON', () => {
    const keys = [{ name: 'name', whenAbsent: undefined }];
    expect(keyElement({ name: '<a&b>\b\\b' }, keys)).toBe('k:{"name":"\\u003ca\\u0026b\\u003e\\u0008\\\\b"}');
    expect(keyElement({ other: 'x' }, keys)).toBeUndefined();
    expect(keyElement({}, [{ name: 'protocol', whenAbsent: 'TCP' }])).toBe('k:{"protocol":"TCP"}');
    expect(valueElement('a')).toBe('v:"a"');
    expect(valueElement({})).toBeUndefined();
  });
});

function shuffled(value: FieldSet): FieldSet {
  const entries = Object.entries(value).map(([element, node]) => [element, shuffled(node)] as const);
  return Object.fromEntries(entries.toReversed());
}
