import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutManagedFields } from './without-managed-fields.ts';

const entry = {
  manager: 'a"],"managedFields":[',
  fieldsV1: { 'k:{"name":"x]"}': { '.': {} }, set: [[1], []] },
};

test.each([
  ['first', { managedFields: [entry], name: 'a' }],
  ['last', { name: 'a', managedFields: [entry, entry] }],
  ['alone', { managedFields: [] }],
])('removes managedFields that are %s in the metadata', (_, metadata) => {
  const list = { items: [{ metadata }, { metadata: { name: 'b' } }, { metadata, spec: {} }] };
  const expected = JSON.stringify(list, (key, value) => (key === 'managedFields' ? undefined : value));
  expect(withoutManagedFields(JSON.stringify(list))).toBe(expected);
});

test('keeps a string that mentions managedFields', () => {
  const text = JSON.stringify({ data: JSON.stringify({ managedFields: [1] }), other: '"managedFields":[' });
  expect(withoutManagedFields(text)).toBe(text);
});

test('returns every other text as it is', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(withoutManagedFields(text)).toBe(text);
    }),
  );
});

test.each(['{"managedFields":[', '{"managedFields":["a', '{"a":1,"managedFields":[1'])(
  'ends for the truncated text %s',
  (text) => {
    expect(withoutManagedFields(text).length).toBeLessThan(text.length);
  },
);
