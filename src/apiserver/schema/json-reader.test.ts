import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNumber } from '../../kube/go/json-number.ts';
import { JsonSyntaxError, jsonDepthMax, parseServerJson, readJson } from './json-reader.ts';

/** Numbers that the reader refuses on purpose. */
const manyDigits = /\d{16}/;

test('any output of JSON.stringify is read back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!manyDigits.test(text));
      const { value: read, duplicates } = readJson(text, { keepsNumbers: false });
      expect(JSON.stringify(read)).toBe(text);
      expect(duplicates).toEqual([]);
    }),
  );
});

test('the slow parser reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!manyDigits.test(text));
      // A duplicate key sends the text to the slow parser.
      const { value } = readJson(`{"a":0,"a":${text}}`);
      expect(JSON.stringify(value)).toBe(JSON.stringify({ a: JSON.parse(text) }));
    }),
  );
});

test('any bytes are read, or refused as bad syntax', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:0123e.-+ tfn\\uaé') }), (text) => {
      fc.pre(!manyDigits.test(text));
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expect(() => readJson(text)).toThrow(JsonSyntaxError);
        return;
      }
      expect(JSON.stringify(readJson(text).value)).toBe(JSON.stringify(expected));
    }),
    { numRuns: 500 },
  );
});

describe('duplicate keys', () => {
  test.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"spec":{"foo":1,"foo":2,"foo":3}}', ['spec.foo', 'spec.foo']],
    ['{"l":[{"x":1},{"x":1,"x":2}]}', ['l[1].x']],
    ['[[{"x":1,"x":2}]]', ['[0][0].x']],
    ['{"metadata":{"labels":{"a.b/c":"1","a.b/c":"2"}}}', ['metadata.labels.a.b/c']],
    ['{"a":{"x":1},"b":{"x":1}}', []],
    ['{"a:b":"c:d\\":","e":":"}', []],
  ])('%s has them at %j', (text, paths) => {
    expect(readJson(text).duplicates.map(({ path }) => path.text)).toEqual(paths);
  });

  test('have their last value', () => {
    expect(readJson('{"a":1,"a":{"b":2}}').value).toEqual({ a: { b: 2 } });
  });
});

/** Recorded from the JSON decoder of Kubernetes 1.36. */
describe('errors have the messages of Go', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['"ab', 'unexpected end of JSON input'],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['"\t"', "invalid character '\\t' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
  ])('%j: %s', (text, message) => {
    expect(() => readJson(text)).toThrow(new JsonSyntaxError(message));
  });
});

describe('numbers', () => {
  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', 2 ** 63],
    ['100000000000000000000000', 1e23],
    ['1e20', 1e20],
  ])('%s is exact as far as Kubernetes keeps it', (text, expected) => {
    expect(readJson(`{"a":[{"b":${text}}]}`).value).toEqual({ a: [{ b: expected }] });
    expect(parseServerJson(`{"a":[{"b":${text}}]}`)).toEqual({ a: [{ b: expected }] });
  });

  test('beyond the range of doubles are refused', () => {
    const message = 'json: cannot unmarshal number 1e400 into Go value of type float64';
    expect(() => readJson('{"a":1e400}')).toThrow(message);
    expect(() => readJson(`{"a":${'9'.repeat(100_000)}}`)).toThrow('json: cannot unmarshal number 999');
  });

  test.each(['9007199254740991', '-9007199254740991', '0.1', '1e3', '1.50', '0'])(
    'such as %s are numbers',
    (text) => {
      expect(readJson(text).value).toBe(Number(text));
    },
  );

  test.each(['9007199254740993', '1.0', '1e3'])(
    'such as %s keep their text if the caller asks for it',
    (text) => {
      expect(readJson(text, { keepsNumbers: true }).value).toEqual(new JsonNumber(text));
    },
  );
});

test('the nesting depth is limited', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(readJson(nested(jsonDepthMax)).duplicates).toEqual([]);
  expect(() => readJson(nested(jsonDepthMax + 1))).toThrow("invalid character '[' exceeded max depth");
  expect(() => readJson('{"a":'.repeat(1_000_000))).toThrow("invalid character '{' exceeded max depth");
});

test.each(['{"__proto__":{"x":1}}', '{"a":1,"a":2,"__proto__":{"x":1}}'])(
  '__proto__ is an ordinary key of %s',
  (text) => {
    const value = readJson(text).value as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
  },
);
