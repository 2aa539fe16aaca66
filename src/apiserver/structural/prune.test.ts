import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, type Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { pruneUnknownFields, schemaOfField } from './prune.ts';
import { jsonObjects, objectSchemas } from './testing/random-schemas.ts';

const root = { isResourceRoot: true };
const text: JsonSchema = { type: 'string' };

describe('pruneUnknownFields', () => {
  test('returns the sorted paths of the removed fields', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            list: { type: 'array', items: { type: 'object', properties: { name: text } } },
            map: { type: 'object', additionalProperties: { type: 'object', properties: { name: text } } },
          },
        },
      },
    };
    const value = {
      kind: 'Thing',
      metadata: { anything: 1 },
      status: {},
      spec: { list: [{ name: 'a', z: 1 }], map: { key: { b: 1 } }, foo: { bar: 1 } },
    };
    expect(pruneUnknownFields(value, schema, root)).toEqual([
      'spec.foo',
      'spec.list[0].z',
      'spec.map.key.b',
      'status',
    ]);
    expect(value).toEqual({
      kind: 'Thing',
      metadata: { anything: 1 },
      spec: { list: [{ name: 'a' }], map: { key: {} } },
    });
  });

  test('keeps kind and metadata of embedded resources only', () => {
    const value = { template: { kind: 'Pod', metadata: {}, x: 1 }, plain: { kind: 'Pod', metadata: {} } };
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        template: { type: 'object', 'x-kubernetes-embedded-resource': true },
        plain: { type: 'object' },
      },
    };
    expect(pruneUnknownFields(value, schema, root)).toEqual(['plain.kind', 'plain.metadata', 'template.x']);
  });

  test('names with a meaning in JavaScript are ordinary names', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":1,"spec":{"__proto__":{"b":2}}}');
    const schema: JsonSchema = { type: 'object', properties: { spec: { type: 'object' } } };
    expect(pruneUnknownFields(value, schema, root)).toEqual(['__proto__', 'constructor', 'spec.__proto__']);
    expect(JSON.stringify(value)).toBe('{"spec":{}}');
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(jsonObjects, objectSchemas, (value, schema) => {
        pruneUnknownFields(value, schema, root);
        const once = JSON.stringify(value);
        expect(pruneUnknownFields(value, schema, root)).toEqual([]);
        expect(JSON.stringify(value)).toBe(once);
      }),
    );
  });

  test('leaves no unknown field, unless the schema preserves them', () => {
    fc.assert(
      fc.property(jsonObjects, objectSchemas, (value, schema) => {
        pruneUnknownFields(value, schema, { isResourceRoot: false });
        expect(unknownFields(value, schema)).toEqual([]);
      }),
    );
  });
});

/** A slow model: only fields that are certainly known, so nothing below a level that preserves unknown fields. */
function unknownFields(value: Json, schema: JsonSchema | undefined): readonly string[] {
  if (schema?.['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (isJsonArray(value)) return value.flatMap((each) => unknownFields(each, schema?.items));
  if (!isJsonObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const isResource = schema?.['x-kubernetes-embedded-resource'] === true;
    if (isResource && ['apiVersion', 'kind', 'metadata'].includes(name)) return [];
    const field = schema === undefined ? undefined : schemaOfField(schema, name);
    return field === undefined ? [name] : unknownFields(value[name] as Json, field);
  });
}
