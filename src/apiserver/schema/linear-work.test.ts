import { afterEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../kube/api-error.ts';
import { decodeBody } from './decode.ts';
import { FieldPath, reportedCharactersMax } from './field-path.ts';
import { readJson } from './json-reader.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Counts the characters of all paths that become texts: everything else about a path is a reference. */
function countPathCharacters(): { characters: number } {
  const counted = { characters: 0 };
  const original = Object.getOwnPropertyDescriptor(FieldPath.prototype, 'text')!.get!;
  vi.spyOn(FieldPath.prototype, 'text', 'get').mockImplementation(function (this: FieldPath) {
    const text: string = original.call(this);
    counted.characters += text.length;
    return text;
  });
  return counted;
}

const long = 'k'.repeat(100_000);

function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"a${index}":1`).join(',');
}

/** Bodies that would copy the product of a long key and the number of keys below it. */
const bodies: readonly (readonly [string, (count: number) => string])[] = [
  ['keys below a long key, one of them twice', (count) => `{"${long}":{${keys(count)},"a0":2}}`],
  ['duplicate keys below a long key', (count) => `{"${long}":{${'"a":1,'.repeat(count)}"b":1}}`],
  ['dotted duplicate keys', (count) => `{"data":{"${'a.'.repeat(count)}":"1","${'a.'.repeat(count)}":"2"}}`],
  [
    'unknown fields in a list below a long key',
    (count) =>
      `{"metadata":{"labels":{"${long}":"x","${long}":"y"},"ownerReferences":[${'{"a":1},'.repeat(count)}{}]}}`,
  ],
];

describe('the work for a body grows no faster than the body', () => {
  test.each(bodies)('%s', (_what, body) => {
    const counted = countPathCharacters();
    for (const count of [1_000, 10_000]) {
      counted.characters = 0;
      decode(body(count));
      expect(counted.characters).toBeLessThanOrEqual(reportedCharactersMax);
    }
  });

  test('reading creates no path text at all', () => {
    const counted = countPathCharacters();
    expect(readJson(`{"${long}":{${keys(10_000)},"a0":2}}`).duplicates).toHaveLength(1);
    expect(counted.characters).toBe(0);
  });
});

test('a report of very many problems is limited', () => {
  const duplicates = Array.from({ length: 50 }, (_, index) => `"a${index}":{},"a${index}":{}`).join(',');
  const message = decode(`{"metadata":{"annotations":{"${long}":"x","${long}":"y",${duplicates}}}}`);
  expect(message.length).toBeLessThan(2 * reportedCharactersMax);
});

test('a number of any length is read or refused without converting all its digits', () => {
  const digits = '9'.repeat(1_000_000);
  const converted: number[] = [];
  const original = globalThis.BigInt;
  const counting = Object.assign(
    (text: string) => {
      converted.push(String(text).length);
      return original(text);
    },
    { asIntN: original.asIntN, asUintN: original.asUintN },
  );
  vi.stubGlobal('BigInt', counting);
  try {
    decode(`{"metadata":{"generation":${digits}}}`);
    expect(() => readJson(`{"a":${digits}}`)).toThrow('cannot unmarshal number');
  } finally {
    vi.unstubAllGlobals();
  }
  expect(Math.max(0, ...converted)).toBeLessThan(30);
});

/** The message of the refusal, or of all warnings. */
function decode(text: string): string {
  const expected = { group: '', version: 'v1', kind: 'ConfigMap', type: 'core/v1.ConfigMap' };
  const body = {
    bytes: Buffer.from(text),
    contentType: undefined,
    expected,
    fieldValidation: 'Warn',
  } as const;
  try {
    return decodeBody(body).warnings.join('\n');
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}
