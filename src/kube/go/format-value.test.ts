import { expect, test } from 'vitest';
import { formatGoString, formatGoSyntax, formatGoValue, goTypeName } from './format-value.ts';
import { JsonNumber } from './json-number.ts';
import type { Json } from './json-value.ts';
import { goQuoted, goQuotedRune, utf8Length } from './quote.ts';

test.each<[Json, string]>([
  [{ b: [1, 'x', null], a: true }, 'map[a:true b:[1 x <nil>]]'],
  [1_000_000, '1000000'],
  [1_234_567.5, '1.2345675e+06'],
  [0.00001, '1e-05'],
  [new JsonNumber('9007199254740993') as unknown as Json, '9007199254740993'],
])('%%v of %j is %s', (value, text) => {
  expect(formatGoValue(value)).toBe(text);
});

test('%s marks what is not a text, and %#v shows the types', () => {
  expect(formatGoString(3)).toBe('%!s(int64=3)');
  expect(formatGoSyntax({ a: ['x'] })).toBe('map[string]interface {}{"a":[]interface {}{"x"}}');
  expect(goTypeName(1.5)).toBe('float64');
});

test('texts and runes are quoted as Go quotes them', () => {
  expect(goQuoted('a"\\\n\u0001\u00a0é')).toBe('"a\\"\\\\\\n\\x01\\u00a0é"');
  expect(goQuotedRune("'") + goQuotedRune('"')).toBe("'\\'''\"'");
});

test.each(['', 'abc', 'é', '€', '😀', '\ud800x'])('the UTF-8 length of %j', (text) => {
  expect(utf8Length(text)).toBe(Buffer.byteLength(text));
});
