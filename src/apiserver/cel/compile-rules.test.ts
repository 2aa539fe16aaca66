import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../schema/json-schema.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { compileRules } from './compile-rules.ts';

const small: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a < 5', message: 'must be small' }],
    },
  },
};

const listed: JsonSchema = {
  type: 'object',
  properties: {
    list: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: {
        type: 'object',
        properties: { k: { type: 'string' }, v: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: 'self.v > 0' }],
      },
    },
  },
};

describe('The rules of a schema', () => {
  test('are undefined if there are none', () => {
    expect(compileRules({ type: 'object', properties: {} }, { isResourceRoot: true })).toBeUndefined();
  });

  test('are undefined if only allOf has them', () => {
    const schema: JsonSchema = {
      type: 'object',
      allOf: [{ 'x-kubernetes-validations': [{ rule: 'false' }] }],
    };
    expect(compileRules(schema, { isResourceRoot: true })).toBeUndefined();
  });

  test('only warn about unchanged values that fail', () => {
    const errors = new FieldErrors();
    const warnings: string[] = [];
    const value = { spec: { a: 9 } };
    const program = compileRules(small, { isResourceRoot: true });
    program?.validate({ value, old: value, errors, warn: (message) => warnings.push(message) });
    expect(errors.isEmpty).toBe(true);
    expect(warnings).toEqual(['spec: Invalid value: must be small']);
  });

  test('access the old list a constant number of times for each element', () => {
    const program = compileRules(listed, { isResourceRoot: true });
    let accesses = 0;
    const watched = (k: string) => ({
      v: 1,
      get k() {
        accesses += 1;
        return k;
      },
    });
    const names = Array.from({ length: 500 }, (_, position) => `element-${position}`);
    const errors = new FieldErrors();
    const value = { list: names.map((k) => ({ k, v: 2 })) };
    program?.validate({ value, old: { list: names.map(watched) }, errors });
    expect(errors.isEmpty).toBe(true);
    expect(accesses).toBeLessThan(10 * names.length);
  });

  test('can be used many times', () => {
    const program = compileRules(small, { isResourceRoot: true });
    const countErrors = (a: number): number => {
      const errors = new FieldErrors();
      program?.validate({ value: { spec: { a } }, errors });
      return errors.count;
    };
    expect([countErrors(9), countErrors(1), countErrors(9)]).toEqual([1, 0, 1]);
  });
});
