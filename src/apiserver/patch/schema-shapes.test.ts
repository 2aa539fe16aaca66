import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { MergeShape } from './merge-shape.ts';
import { schemaShape } from './schema-shapes.ts';

const text: JsonSchema = { type: 'string' };
const keeping: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };
const byName: JsonSchema = { type: 'object', properties: { name: text, kind: { ...text, default: 'k' } } };

/** A summary of a shape, one level deep. */
function outline(shape: MergeShape | undefined): string {
  if (shape === undefined) return 'nothing';
  switch (shape.kind) {
    case 'scalar':
      return shape.form;
    case 'list':
      return `${shape.relation} list${shape.keys.map(({ name, whenAbsent }) => ` ${name}=${whenAbsent}`).join('')}`;
    case 'map':
      return `${shape.isAtomic ? 'atomic' : 'granular'} map of ${outline(shape.value)}`;
    case 'struct': {
      const names = shape.sortedFields.map(({ name }) => name).join(' ');
      return `${shape.isAtomic ? 'atomic' : 'granular'} struct ${names} and ${outline(shape.rest)}`;
    }
    default:
      return shape.kind;
  }
}

describe('the shape of a custom kind', () => {
  test.each<[JsonSchema, string]>([
    [text, 'string'],
    [{ ...text, format: 'byte' }, 'string'],
    [{ ...text, format: 'date-time' }, 'untyped'],
    [{ type: 'integer' }, 'numeric'],
    [{ type: 'boolean', nullable: true }, 'boolean'],
    [{ 'x-kubernetes-int-or-string': true }, 'deduced'],
    [keeping, 'deduced'],
    [{ type: 'array', items: text }, 'atomic list'],
    [{ type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, 'set list'],
    [
      {
        type: 'array',
        items: byName,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name', 'kind'],
      },
      'map list kind=k name=undefined',
    ],
    [{ type: 'object' }, 'granular map of deduced'],
    [{ type: 'object', additionalProperties: text }, 'granular map of string'],
    [
      { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
      'atomic map of string',
    ],
    [{ type: 'object', properties: { b: text, a: text } }, 'granular struct a b and nothing'],
    [{ type: 'object', properties: { a: text }, ...keeping }, 'granular struct a and deduced'],
    [
      { type: 'object', 'x-kubernetes-embedded-resource': true, ...keeping },
      'granular struct apiVersion kind metadata and deduced',
    ],
  ])('%j is a %s', (schema, expected) => {
    const { fields } = schemaShape({ type: 'object', properties: { spec: schema } }, 'Thing');
    expect(outline(fields.get('spec')?.shape)).toBe(expected);
  });

  test('has the metadata of every object, whatever its schema says', () => {
    const shape = schemaShape({ type: 'object', properties: { metadata: text } }, 'Thing');
    expect(shape.sortedFields.map(({ name }) => name)).toEqual(['apiVersion', 'kind', 'metadata']);
    const metadata = shape.fields.get('metadata')?.shape;
    expect(metadata?.kind === 'struct' && outline(metadata.fields.get('ownerReferences')?.shape)).toBe(
      'map list uid=',
    );
  });

  test('preserves unknown fields at any depth below x-kubernetes-preserve-unknown-fields', () => {
    const inner: JsonSchema = { type: 'object', properties: { a: text } };
    const list: JsonSchema = { type: 'array', items: inner };
    const { fields } = schemaShape({ type: 'object', properties: { list }, ...keeping }, 'Thing');
    const shape = fields.get('list')?.shape;
    expect(shape?.kind === 'list' && outline(shape.element)).toBe('granular struct a and deduced');
  });
});
