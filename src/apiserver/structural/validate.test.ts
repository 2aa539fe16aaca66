import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { jsonObjects, objectSchemas } from './testing/random-schemas.ts';
import { compileSchema, type ValidateOptions } from './validate.ts';

function errorsOf(schema: JsonSchema, value: unknown, options?: ValidateOptions): readonly string[] {
  const errors = new FieldErrors();
  compileSchema(schema).validate(value, errors, options);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

function spec(schema: JsonSchema): JsonSchema {
  return { type: 'object', properties: { spec: schema } };
}

describe('a value is validated with the messages of Kubernetes', () => {
  const table: readonly (readonly [JsonSchema, Json, string])[] = [
    [
      { type: 'integer', maximum: 10 },
      11,
      'spec: Invalid value: 11: spec in body should be less than or equal to 10',
    ],
    [
      { type: 'integer' },
      '1',
      'spec: Invalid value: "string": spec in body must be of type integer: "string"',
    ],
    [{ type: 'string' }, null, 'spec: Invalid value: "null": spec in body must be of type string: "null"'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'spec: Too long: may not be more than 2 bytes'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'spec: Unsupported value: "c": supported values: "a", "b"'],
    [{ type: 'string', pattern: '^a$' }, 'b', `spec: Invalid value: "b": spec in body should match '^a$'`],
    [
      { type: 'string', format: 'date' },
      'x',
      'spec: Invalid value: "x": spec in body must be of type date: "x"',
    ],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'spec: Too many: 2: must have at most 1 item'],
    [{ type: 'object', required: ['a'] }, {}, 'spec.a: Required value'],
    [{ type: 'object', not: {} }, {}, '<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
  ];

  test.each(table)('%j: %j', (schema, value, sentence) => {
    expect(errorsOf(spec(schema), { spec: value })).toEqual([sentence]);
  });

  test('the field of a part has its path before it, and the message does not', () => {
    const schema: JsonSchema = { type: 'object', properties: { ready: { type: 'boolean' } }, not: {} };
    expect(errorsOf(schema, { ready: 1 }, { path: 'status' })).toEqual([
      'status: Invalid value: "": "" must not validate the schema (not)',
      'status.ready: Invalid value: "integer": ready in body must be of type boolean: "integer"',
    ]);
  });
});

describe('an update', () => {
  const schema = spec({
    type: 'object',
    properties: { name: { type: 'string', maxLength: 1 }, size: { type: 'integer', maximum: 1 } },
  });

  test('may keep invalid parts, but not add new ones', () => {
    const old = { spec: { name: 'long', size: 5 } };
    expect(errorsOf(schema, { spec: { name: 'long', size: 6 } }, { old })).toEqual([
      'spec.size: Invalid value: 6: spec.size in body should be less than or equal to 1',
    ]);
  });

  test('never has more errors than a create, and none if nothing changes that the schema names', () => {
    fc.assert(
      fc.property(jsonObjects, jsonObjects, objectSchemas, (value, old, random) => {
        const created = errorsOf(random, value);
        expect(errorsOf(random, value, { old }).filter((error) => !created.includes(error))).toEqual([]);
      }),
    );
  });
});

describe('hostile values and schemas do no harm', () => {
  test('names with a meaning in JavaScript are ordinary names', () => {
    const schema: JsonSchema = { type: 'object', required: ['toString', '__proto__'], properties: {} };
    expect(errorsOf(schema, {})).toEqual(['toString: Required value', '__proto__: Required value']);
    const value = JSON.parse('{"__proto__":{"x":1}}');
    expect(errorsOf({ type: 'object', additionalProperties: { type: 'string' } }, value)).toHaveLength(1);
  });

  test('long lists of wrong, equal or different elements take linear time', () => {
    const wrong = Array.from({ length: 20_000 }, (_, index) => index);
    expect(errorsOf(spec({ type: 'array', items: { type: 'string' } }), { spec: wrong })).toHaveLength(
      20_000,
    );
    expect(
      errorsOf(spec({ type: 'array', uniqueItems: true }), { spec: wrong.map((each) => [each]) }),
    ).toEqual([]);
  });

  test('nested alternatives do not take exponential time', () => {
    let schema: JsonSchema = { required: ['never'] };
    for (let depth = 0; depth < 200; depth++) schema = { anyOf: [schema] };
    expect(errorsOf({ type: 'object', ...schema }, {})).toHaveLength(2);
  });

  test('values nested as deep as a request body may be are validated', () => {
    let schema: JsonSchema = { type: 'string' };
    let value: Json = 1;
    for (let depth = 0; depth < 900; depth++) {
      schema = { type: 'object', properties: { a: schema } };
      value = { a: value };
    }
    expect(errorsOf(schema, value)).toHaveLength(1);
    expect(errorsOf(schema, value, { old: value })).toEqual([]);
  });

  test.each(['duration', 'email', 'uri', 'hostname', 'date-time', 'byte', 'cidr', 'rgbcolor', 'isbn'])(
    'checks a long string against the format %s',
    (format) => {
      for (const text of ['1', ' ', 'a', '(', '0.', ':', '-', '%41', '"\\'].map((part) =>
        part.repeat(40_000),
      )) {
        expect(errorsOf(spec({ type: 'string', format }), { spec: text }).length).toBeLessThanOrEqual(1);
      }
    },
  );
});
