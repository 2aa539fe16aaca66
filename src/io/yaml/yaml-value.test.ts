import { afterEach, expect, test, vi } from 'vitest';
import { Alias } from 'yaml';
import { readYaml } from './yaml-reader.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test.each([
  ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
  ['a: &x 1\nb: &x 2\nc: *x', { a: 1, b: 2, c: 2 }],
  ['a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
  ['a: &x {b: 1}\nc: {<<: [*x, {b: 2, d: 3}]}', { a: { b: 1 }, c: { b: 1, d: 3 } }],
  ['a: !!binary aGk=', { a: 'hi' }],
  ['a: !!omap [{b: 1}, {b: 2}]', { a: [{ b: 1 }, { b: 2 }] }],
  ['a: !!set {b: null}', { a: { b: null } }],
  ['1: a\ntrue: b\nnull: c', { 1: 'a', true: 'b', '': 'c' }],
  [`a: ${'9'.repeat(200)}`, { a: 1e200 }],
])('%s', (text, value) => {
  expect(readYaml(text).value).toEqual(value);
});

test.each([
  ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
  ['a: *x', "yaml: unknown anchor 'x' referenced"],
  ['a: {<<: 1}', 'yaml: map merge requires map or sequence of maps as the value'],
])('%s is refused', (text, message) => {
  expect(() => readYaml(text)).toThrow(message);
});

test('copies of an anchored value are independent', () => {
  const { value } = readYaml('a: &x {b: [1]}\nc: *x') as {
    value: { a: { b: number[] }; c: { b: number[] } };
  };
  value.a.b.push(2);
  expect(value.c.b).toEqual([1]);
});

test('aliases are resolved without looking through the document', () => {
  const resolve = vi.spyOn(Alias.prototype, 'resolve');
  const aliases = '*x, '.repeat(2_000);
  expect(readYaml(`a: &x v\nb: [${aliases}]\nc: {${'*x : 1, '.repeat(2_000)}}`).value).toMatchObject({
    c: { v: 1 },
  });
  expect(resolve).not.toHaveBeenCalled();
});

test('aliases expand to a limited number of values', () => {
  const list = `&x [${'1, '.repeat(1_000)}]`;
  expect(() => readYaml(`a: ${list}\nb: [${'*x, '.repeat(1_000)}]`)).toThrow('excessive aliasing');
});

test('integers of any length are read without converting all their digits', () => {
  const converted: number[] = [];
  const original = globalThis.BigInt;
  vi.stubGlobal('BigInt', (text: string) => {
    converted.push(String(text).length);
    return original(text);
  });
  readYaml(`a: ${'9'.repeat(100_000)}\nb: 0x${'f'.repeat(100_000)}\nc: 12`);
  expect(Math.max(...converted)).toBeLessThan(200);
});
