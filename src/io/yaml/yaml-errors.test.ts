import { expect, test } from 'vitest';
import { readYaml } from './yaml-reader.ts';

/** Parsers that collect every error and quote its line need a minute or more for each of these texts. */
const count = 40_000;

const errors: readonly (readonly [string, string, string])[] = [
  ['escapes', `a: "${'\\z'.repeat(2 * count)}"`, 'line 1: invalid escape sequence \\z'],
  ['hexadecimal escapes', `a: "${'\\xg0'.repeat(count)}"`, 'line 1: invalid escape sequence \\xg0'],
  ['Unicode escapes', `a: "${'\\uzzzz'.repeat(count)}"`, 'line 1: invalid escape sequence \\uzzzz'],
  ['commas in a list', `[${'"a" '.repeat(count)}]`, 'line 1: missing , or : between flow sequence items'],
  ['commas in a map', `{${'"a" '.repeat(count)}}`, 'line 1: missing , or : between flow map items'],
  ['colons in a map', `{${'"a" b,'.repeat(count)}}`, 'line 1: missing , or : between flow map items'],
  ['ends of texts', '"a"'.repeat(count), 'line 1: unexpected double-quoted-scalar at node end'],
  ['ends of lists', '[a]'.repeat(count / 2), 'line 1: unexpected flow-seq-start at node end'],
];

test.each(errors)('parsing ends at the first of many wrong %s', (_what, text, message) => {
  expect(() => readYaml(text)).toThrow(`yaml: ${message}`);
});

test('the first error is reported, not one of an outer collection', () => {
  expect(() => readYaml('a:\n- b:\n  - c: "\\z"\n    d: ["e" "f"]')).toThrow(
    'yaml: line 3: invalid escape sequence \\z',
  );
});

test('errors after the first document are not errors of it', () => {
  for (const rest of ['---\nb: "\\z"', '...\n%TAG a\n---\nb: 2'])
    expect(readYaml(`a: 1\n${rest}`)).toEqual({ value: { a: 1 }, duplicates: [], hasMore: true });
});
