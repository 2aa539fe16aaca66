import type { ServedKind } from '../../../src/apiserver/kinds/served-kind.ts';
import { fieldTablesOf } from '../../../src/apiserver/schema/type-info.ts';
import { type LeafForm, schemaTypeId, type ValueType } from '../../../src/apiserver/schema/type-table.ts';
import { apiVersionOf } from '../../../src/kube/resource.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { sampleObjects } from './sample-objects.ts';

const depthMax = 9;
/** Names that every JavaScript object inherits, and others that break careless lookups. */
export const inheritedNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', ''];

/**
 * Generates objects of a kind from its schema. Every field has the right type, or (with `wrongTypeRate` above 0) sometimes a wrong one, and
 * a random value.
 */
export class TypedObjects {
  readonly #random: Random;
  readonly #wrongTypeRate: number;

  constructor(random: Random, wrongTypeRate: number) {
    this.#random = random;
    this.#wrongTypeRate = wrongTypeRate;
  }

  /** A random object, or a slightly changed sample. It has the name of a sample. */
  next(kind: ServedKind, samples: readonly { readonly metadata: { readonly name: string } }[]) {
    const sample = this.#random.pick(samples);
    if (this.#random.next() < 0.6) return this.altered(kind, sample);
    return this.object(kind, sample.metadata.name);
  }

  object(kind: ServedKind, name: string): Record<string, unknown> {
    const made = this.#struct(kind.type, 0);
    const { deletionTimestamp: _d, uid: _u, resourceVersion: _r, ...metadata } = recordOf(made.metadata);
    return { ...made, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...metadata, name } };
  }

  /** A copy of the object with a few changed fields: only almost valid objects reach most validation rules. */
  altered(kind: ServedKind, object: object): Record<string, unknown> {
    return this.#alteredStruct(kind.type, object, 0);
  }

  #alteredStruct(id: string, struct: object, depth: number): Record<string, unknown> {
    const altered: Record<string, unknown> = {};
    const known = new Map(Object.entries(struct));
    for (const [name, { type }] of fieldTablesOf(id)) {
      const isKept = ['kind', 'apiVersion'].includes(name) || (depth === 1 && name === 'name');
      const value = known.get(name);
      if (isKept && value !== undefined) altered[name] = value;
      else if (value !== undefined) altered[name] = this.#alteredValue(type, value, depth + 1);
      else if (this.#random.next() < 0.03) altered[name] = this.#value(type, Math.max(depth + 1, 5));
    }
    return altered;
  }

  #alteredValue(type: ValueType, value: unknown, depth: number): unknown {
    if (this.#random.next() < 0.04) return this.#value(type, Math.max(depth, 5));
    if (typeof value !== 'object' || value === null) return value;
    if (type.form === 'struct') return this.#alteredStruct(type.id, value, depth);
    if (type.form === 'list' && Array.isArray(value)) {
      const kept = value.filter(() => this.#random.next() > 0.05);
      return kept.map((item) => this.#alteredValue(type.element, item, depth));
    }
    return value;
  }

  #struct(id: string, depth: number): Record<string, unknown> {
    const struct: Record<string, unknown> = {};
    // Objects are often complete and often small, so that errors in one field do not hide all others.
    const share = this.#random.pick([0.15, 0.4, 0.8]) * (depth > 4 ? 0.4 : 1);
    for (const [name, field] of fieldTablesOf(id)) {
      if (field.isRequired ? this.#random.next() < 0.03 : this.#random.next() > share) continue;
      if (depth < depthMax) struct[name] = this.#value(field.type, depth + 1);
    }
    return struct;
  }

  #value(type: ValueType, depth: number): unknown {
    if (this.#random.next() < this.#wrongTypeRate) return this.#random.pick(wrongValues);
    switch (type.form) {
      case 'struct':
        return this.#struct(type.id, depth);
      case 'list':
        return Array.from({ length: this.#length() }, () => this.#value(type.element, depth));
      case 'map':
        return this.#map(type.element, depth);
      case 'schemaOrList':
      case 'schemaOrBool':
      case 'schemaOrNames':
        return this.#random.next() < 0.2 ? true : this.#struct(schemaTypeId, depth);
      default:
        return this.#leaf(type.form);
    }
  }

  #map(element: ValueType, depth: number): object {
    const map: object = {};
    for (let left = this.#length(); left > 0; left -= 1) {
      const key = this.#random.next() < 0.1 ? this.#random.pick(inheritedNames) : this.#text();
      // Assigning to `__proto__` would not create an entry.
      const value = this.#value(element, depth);
      Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return map;
  }

  #leaf(form: LeafForm): unknown {
    return form === 'string' ? this.#text() : this.#random.pick(leaves[form]);
  }

  #text(): string {
    return this.#random.next() < 0.15 ? this.#random.pick(oddTexts) : this.#random.pick(knownTexts());
  }

  #length(): number {
    return this.#random.pick([0, 1, 1, 1, 2, 3]);
  }
}

const ints = [0, 1, 2, -1, 3, 80, 443, 65_535, 65_536, 2 ** 31 - 1, -(2 ** 31)];
const longText = 'x'.repeat(2_000);
const oddTexts = [
  ...inheritedNames,
  longText,
  ' ',
  '\u0000',
  'ü',
  '😀',
  '\ud800',
  '../..',
  'a/b/c',
  '%',
  '*',
  '-',
  '{{',
];

/** Values of the right types, including the extremes. */
const leaves: Readonly<Record<Exclude<LeafForm, 'string'>, readonly unknown[]>> = {
  bool: [true, false],
  int32: ints,
  int64: [...ints, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  bytes: ['', 'eA==', 'eHg=', 'AAAA'.repeat(100)],
  quantity: ['0', '1', '-1', '1Gi', '100m', '1.5', '9223372036854775807', '1e30', '0.000000001', '5n', 7],
  time: ['2020-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', null],
  microTime: ['2020-01-01T00:00:00.000001Z', '1970-01-01T00:00:00.000000Z', null],
  intOrString: [0, 80, -1, 65_536, '50%', '-5%', 'http', '', '150%', '%'],
  rawExtension: [{}, { apiVersion: 'v1', kind: 'Pod' }, { a: [null, { b: 1 }] }, null],
  float64: [...ints, 0.5, -1.25, 1e21],
  json: [{}, { a: 1 }, [1, 'x', null], 'text', 5, null],
  fieldsV1: [{}, { 'f:metadata': { 'f:labels': { '.': {} } } }, { 'f:spec': {} }, null],
};

const wrongValues: readonly unknown[] = [
  null,
  0,
  1.5,
  -1,
  1e308,
  true,
  '',
  'x',
  longText,
  [],
  [null],
  [[]],
  {},
  { '': null },
  { a: { b: [{}] } },
];

/** All strings in the samples: enumeration values, addresses, schedules, selectors and other meaningful strings. */
function knownTexts(): readonly string[] {
  texts ??= [...new Set(sampleObjects().flatMap(({ object }) => textsIn(object)))];
  return texts;
}

let texts: readonly string[] | undefined;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(textsIn)];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
