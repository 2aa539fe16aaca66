import fc from 'fast-check';
import type { Json, JsonObject } from '../../../kube/go/json-value.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';

/** Ordinary names, and names with a meaning in JavaScript. */
const names = fc.constantFrom('a', 'b', 'c', 'metadata', 'kind', '__proto__', 'constructor', 'toString', '');

export const jsonObjects: fc.Arbitrary<JsonObject> = fc.dictionary(
  names,
  fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<Json>(null, true, 0, 1, 1.5, '', 'a', 'abc'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(names, tie('json'), { maxKeys: 4 }),
    ),
  })).json,
  { maxKeys: 5 },
);

/** Schemas of objects, as at the root of a definition. */
export const objectSchemas: fc.Arbitrary<JsonSchema> = fc.letrec<Record<'object' | 'any', JsonSchema>>(
  (tie) => ({
    any: fc.oneof({ maxDepth: 4 }, scalars(), lists(tie('any')), tie('object'), maps(tie('any'))),
    object: fc
      .record(
        {
          properties: fc.dictionary(names, tie('any'), { maxKeys: 5 }),
          required: fc.array(names, { maxLength: 2 }),
          'x-kubernetes-preserve-unknown-fields': fc.constant(true),
          'x-kubernetes-embedded-resource': fc.constant(true),
          nullable: fc.boolean(),
          default: jsonObjects,
        },
        { requiredKeys: [] },
      )
      .map((schema): JsonSchema => ({ type: 'object', ...schema })),
  }),
).object;

function scalars(): fc.Arbitrary<JsonSchema> {
  return fc.record(
    {
      type: fc.constantFrom('string', 'integer', 'number', 'boolean'),
      nullable: fc.boolean(),
      default: fc.constantFrom<Json>(1, 'a', true),
      maximum: fc.constantFrom(0, 1, 1.5),
      maxLength: fc.constantFrom(0, 1),
      enum: fc.array(fc.constantFrom<Json>(1, 'a', null), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['type'] },
  );
}

function lists(items: fc.Arbitrary<JsonSchema>): fc.Arbitrary<JsonSchema> {
  const listTypes = fc.constantFrom<Partial<JsonSchema>>(
    {},
    { 'x-kubernetes-list-type': 'set' },
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
  );
  return fc
    .tuple(items, listTypes)
    .map(([each, list]): JsonSchema => ({ type: 'array', items: each, ...list }));
}

function maps(values: fc.Arbitrary<JsonSchema>): fc.Arbitrary<JsonSchema> {
  return values.map((additionalProperties): JsonSchema => ({ type: 'object', additionalProperties }));
}
