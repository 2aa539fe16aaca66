import { describe, expect, test } from 'vitest';
import { ApiError } from '../../kube/api-error.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { readJson } from './json-reader.ts';
import { normalize, zeroObject } from './normalize.ts';
import { strictDecodingProblems } from './strict-decoding.ts';
import { goldenInputs, goldenObjects } from './testing/golden.ts';

describe('objects that Go encoded', () => {
  test.each(goldenObjects)(
    '$type filled with $filled stays as it is, in the same order',
    ({ type, json }) => {
      const { object, unknownFields } = normalize(type, json);
      expect(jsonText(object)).toBe(jsonText(json));
      expect(unknownFields).toEqual([]);
    },
  );

  test('share nothing with the input', () => {
    const pod = goldenObjects.find(({ type, filled }) => type === 'core/v1.Pod' && filled === 'values');
    const before = jsonText(pod?.json);
    expect(sharedPlaces(normalize('core/v1.Pod', pod?.json).object, pod?.json)).toEqual([]);
    expect(jsonText(pod?.json)).toBe(before);
  });
});

describe('objects that clients send', () => {
  test.each(goldenInputs.filter(({ error }) => error === undefined))(
    '$type $input becomes what Go makes of it',
    ({ type, input, output, strict = [] }) => {
      const document = readJson(input, { keepsNumbers: true });
      const { object, unknownFields } = normalize(type, document.value);
      expect(jsonText(object)).toBe(jsonText(output));
      expect(strictDecodingProblems({ type: type }, document, unknownFields)).toEqual(strict);
    },
  );

  test.each(goldenInputs.filter(({ error }) => error !== undefined))(
    '$type $input is refused with: $error',
    ({ type, input, error }) => {
      const { value } = readJson(input, { keepsNumbers: true });
      expect(() => normalize(type, value)).toThrow(new RegExp(`^${escaped(error ?? '')}$`));
      expect(() => normalize(type, value)).toThrow(ApiError);
    },
  );
});

test('undefined counts as absent, also in objects that were never JSON', () => {
  const { object, unknownFields } = normalize('core/v1.ConfigMap', {
    metadata: { name: 'a', labels: undefined, nonsense: undefined },
    data: { a: 'b', c: undefined },
  });
  expect(object).toEqual({ metadata: { name: 'a' }, data: { a: 'b' } });
  expect(unknownFields).toEqual([]);
});

test.each([
  ['bytes', 'core/v1.Secret', { data: { a: null } }, { metadata: {}, data: { a: '' } }],
  ['lists', 'authentication.k8s.io/v1.UserInfo', { extra: { a: null } }, { extra: { a: [] } }],
  [
    'the zero time',
    'core/v1.Pod',
    { metadata: { deletionTimestamp: '0001-01-01T00:00:00Z' } },
    zeroObject('core/v1.Pod'),
  ],
])('no null is left where the types exclude it: %s', (_, type, given, expected) => {
  expect(normalize(type, given).object).toEqual(expected);
});

test.each(['9007199254740993', '-9223372036854775808', '9223372036854775807'])(
  'a 64-bit integer keeps all its digits: %s',
  (text) => {
    const { value } = readJson(`{"metadata":{"generation":${text}}}`, { keepsNumbers: true });
    expect(normalize('core/v1.Pod', value).object).toMatchObject({ metadata: { generation: BigInt(text) } });
  },
);

test('an integer beyond 64 bits is refused', () => {
  const { value } = readJson('{"metadata":{"generation":9223372036854775808}}', { keepsNumbers: true });
  expect(() => normalize('core/v1.Pod', value)).toThrow(
    'cannot unmarshal number 9223372036854775808 into Go struct field ObjectMeta.metadata.generation of type int64',
  );
});

test('a quantity keeps all digits of a number that a double would change', () => {
  const { value } = readJson('{"spec":{"capacity":{"storage":9007199254740993}}}', { keepsNumbers: true });
  expect(normalize('core/v1.PersistentVolume', value).object).toMatchObject({
    spec: { capacity: { storage: '9007199254740993' } },
  });
});

test('a type that does not exist is a bug, not a bad request', () => {
  expect(() => normalize('core/v1.Nothing', {})).toThrow('there is no API type core/v1.Nothing');
});

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Paths at which both have the same object. */
function sharedPlaces(a: unknown, b: unknown, path = ''): string[] {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return [];
  if (a === b) return [path];
  return Object.keys(a).flatMap((key) =>
    sharedPlaces((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], `${path}.${key}`),
  );
}
