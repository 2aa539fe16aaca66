import type { Random } from '../../../runtime/random.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { type Draw, either, mapWith, object, one, several, some } from './random-values.ts';

/** A part of a schema, and the draw for its values. */
export interface RandomSchema {
  readonly schema: JsonSchema;
  readonly draw: Draw;
}

/**
 * The schema of a custom kind with a spec, a status and another field. Its values fit the schema, and several draws set
 * the same fields.
 */
export function randomCustomSchema(random: Random): RandomSchema & { readonly status: Draw } {
  const spec = randomStruct(random, 3);
  const status = randomStruct(random, 2);
  const beside = randomPart(random, 2);
  const root = { spec: spec.schema, status: status.schema, beside: beside.schema };
  const keepsUnknown = random.next() < 0.1;
  return {
    schema: { type: 'object', properties: root, ...(keepsUnknown ? preserving : {}) },
    draw: object(
      { beside: beside.draw, ...(keepsUnknown ? { unknown: anything } : {}) },
      { spec: spec.draw, status: (each) => (each.next() < 0.2 ? status.draw(each) : undefined) },
    ),
    status: status.draw,
  };
}

/**
 * The same values under other rules: some lists and maps that were merged are atomic, and some that were atomic are
 * merged.
 */
export function regrouped(schema: JsonSchema, random: Random): JsonSchema {
  const {
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-map-type': mapType,
    ...rest
  } = schema;
  const { items, additionalProperties, properties } = rest;
  const isKept = random.next() < 0.5;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: regrouped(items, random) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: regrouped(additionalProperties, random) }
      : {}),
    ...(properties === undefined ? {} : { properties: regroupedAll(properties, random) }),
    ...(isKept && listType !== undefined ? { 'x-kubernetes-list-type': listType } : {}),
    ...(isKept && keys !== undefined ? { 'x-kubernetes-list-map-keys': keys } : {}),
    ...(schema.type === 'object' && isKept ? { 'x-kubernetes-map-type': mapType ?? 'atomic' } : {}),
  };
}

function regroupedAll(
  properties: NonNullable<JsonSchema['properties']>,
  random: Random,
): NonNullable<JsonSchema['properties']> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, regrouped(schema, random)]),
  );
}

const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const;
/** Names with a meaning in JavaScript or in Kubernetes, and one that is not ASCII. */
const names = ['a', 'b', 'c', 'metadata', 'constructor', 'é'];

const scalars: readonly RandomSchema[] = [
  { schema: { type: 'string' }, draw: one('x', 'y', '', '<é>') },
  { schema: { type: 'integer' }, draw: one(0, 1, -2) },
  { schema: { type: 'number' }, draw: one(0.5, 1, -2.25) },
  { schema: { type: 'boolean' }, draw: one(true, false) },
  {
    schema: { type: 'string', format: 'date-time' },
    draw: one('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  },
  { schema: { type: 'string', format: 'byte' }, draw: one('AAAA', 'AQ==') },
  { schema: { 'x-kubernetes-int-or-string': true }, draw: one(1, 2, '50%') },
];

/** JSON of any type, so that a value can also change its type. */
const anything: Draw = either(
  one('x', 1, true),
  one([], ['x'], [{ a: 1 }, 2]),
  mapWith(['a', 'b'], either(one('x', 1, [1], {}), mapWith(['a', 'c'], one(1, [2], { d: 1 })))),
);

function randomPart(random: Random, depth: number): RandomSchema {
  const makers =
    depth === 0 ? [randomScalar] : [randomScalar, randomStruct, randomMap, randomList, randomOpen];
  const part = random.pick(makers)(random, depth - 1);
  if (random.next() >= 0.1) return part;
  const { draw } = part;
  return {
    schema: { ...part.schema, nullable: true },
    draw: (each) => (each.next() < 0.2 ? null : draw(each)),
  };
}

function randomScalar(random: Random): RandomSchema {
  return random.pick(scalars);
}

function randomFields(random: Random, depth: number): Readonly<Record<string, RandomSchema>> {
  const chosen = random.shuffle(names).slice(0, 2 + random.int(3));
  return Object.fromEntries(chosen.map((name) => [name, randomPart(random, depth)]));
}

function randomStruct(random: Random, depth: number): RandomSchema {
  const fields = Object.entries(randomFields(random, depth));
  const isAtomic = random.next() < 0.15;
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, { schema }]) => [name, schema])),
      ...(isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    },
    draw: object(Object.fromEntries(fields.map(([name, { draw }]) => [name, draw]))),
  };
}

function randomMap(random: Random, depth: number): RandomSchema {
  const { schema, draw } = randomPart(random, depth);
  const mapType = random.pick(['atomic', 'granular', undefined] as const);
  return {
    schema: {
      type: 'object',
      additionalProperties: schema,
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    },
    draw: mapWith(['a', 'b', 'é'], draw),
  };
}

function randomList(random: Random, depth: number): RandomSchema {
  const listType = random.pick(['atomic', 'set', 'map', undefined] as const);
  if (listType === 'set') return randomSet(random);
  if (listType === 'map') return randomListMap(random, depth);
  const { schema, draw } = randomPart(random, depth);
  const type = listType === undefined ? {} : { 'x-kubernetes-list-type': listType };
  return { schema: { type: 'array', items: schema, ...type }, draw: some(draw, draw) };
}

function randomSet(random: Random): RandomSchema {
  const set = { type: 'array', 'x-kubernetes-list-type': 'set' } as const;
  return random.pick<RandomSchema>([
    { schema: { ...set, items: { type: 'string' } }, draw: some(one('x'), one('y'), one('<z>'), one('')) },
    { schema: { ...set, items: { type: 'number' } }, draw: some(one(1), one(2.5), one(-10), one(9)) },
    {
      schema: { ...set, items: { 'x-kubernetes-int-or-string': true } },
      draw: some(one(1), one('1'), one('a')),
    },
  ]);
}

/** Elements have their key, or get it from a default. */
function randomListMap(random: Random, depth: number): RandomSchema {
  const value = randomPart(random, depth);
  const hasDefault = random.next() < 0.5;
  const keys = hasDefault ? ['name', 'kind'] : ['name'];
  const kind: JsonSchema = { type: 'string', default: 'k' };
  const properties: Record<string, JsonSchema> = { name: { type: 'string' }, value: value.schema };
  if (hasDefault) properties.kind = kind;
  return {
    schema: {
      type: 'array',
      items: { type: 'object', properties, required: ['name'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
    },
    draw: some(
      object({ value: value.draw }, { name: one('m') }),
      object({ value: value.draw }, { name: one('n') }),
      object({ value: value.draw }, hasDefault ? { name: one('m'), kind: one('l') } : { name: one('o') }),
    ),
  };
}

/** Parts whose schema does not describe all fields. */
function randomOpen(random: Random, depth: number): RandomSchema {
  return random.pick([randomUntyped, randomKeeper, randomEmbedded])(random, depth);
}

function randomUntyped(): RandomSchema {
  return { schema: preserving, draw: anything };
}

function randomKeeper(random: Random, depth: number): RandomSchema {
  const fields = Object.entries(random.next() < 0.5 ? {} : randomFields(random, depth));
  return {
    schema: {
      type: 'object',
      ...preserving,
      ...(fields.length === 0
        ? {}
        : { properties: Object.fromEntries(fields.map(([name, { schema }]) => [name, schema])) }),
    },
    draw: object({
      ...Object.fromEntries(fields.map(([name, { draw }]) => [name, draw])),
      more: anything,
      most: anything,
    }),
  };
}

function randomEmbedded(): RandomSchema {
  return {
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserving },
    draw: object(
      {
        metadata: object({
          labels: mapWith(['a', 'b'], one('1', '2')),
          finalizers: several(one('x.io/a'), one('x.io/b')),
        }),
        spec: anything,
      },
      { apiVersion: one('v1'), kind: one('Pod', 'Job') },
    ),
  };
}
