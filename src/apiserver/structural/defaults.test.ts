import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../schema/json-schema.ts';
import { applyDefaults } from './defaults.ts';
import { jsonObjects, objectSchemas } from './testing/random-schemas.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    mode: { type: 'string', default: 'fast' },
    note: { type: 'string', nullable: true, default: 'none' },
    bare: { type: 'string' },
    limits: { type: 'object', default: {}, properties: { cpu: { type: 'integer', default: 1 } } },
  },
};

describe('applyDefaults', () => {
  test.each([
    {
      name: 'fills in absent fields, and the defaults inside of them',
      value: {},
      limits: { cpu: 1 },
      note: 'none',
    },
    { name: 'keeps null where it is allowed', value: { note: null }, limits: { cpu: 1 }, note: null },
    {
      name: 'takes null for absent where it is not',
      value: { mode: null, limits: null },
      limits: { cpu: 1 },
      note: 'none',
    },
    { name: 'drops null where there is no default', value: { bare: null }, limits: { cpu: 1 }, note: 'none' },
    { name: 'keeps what is there', value: { limits: { cpu: 2 } }, limits: { cpu: 2 }, note: 'none' },
  ])('$name', ({ value, limits, note }) => {
    applyDefaults(value, schema);
    expect(value).toEqual({ mode: 'fast', note, limits });
  });

  test('every object gets its own copy of a default', () => {
    const [first, second] = [{}, {}] as { limits?: { cpu: number } }[];
    applyDefaults(first as object as Record<string, never>, schema);
    applyDefaults(second as object as Record<string, never>, schema);
    expect(first?.limits).not.toBe(second?.limits);
    expect(first?.limits).not.toBe(schema.properties?.limits?.default);
  });

  test('a default may have any name', () => {
    const value = {};
    applyDefaults(
      value,
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object","default":{"a":1}}}}'),
    );
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('is idempotent, if no default has nulls that are not allowed', () => {
    fc.assert(
      fc.property(jsonObjects, objectSchemas, (value, randomSchema) => {
        applyDefaults(value, randomSchema);
        const once = JSON.stringify(value);
        fc.pre(!once.includes('null'));
        applyDefaults(value, randomSchema);
        expect(JSON.stringify(value)).toBe(once);
      }),
    );
  });
});
