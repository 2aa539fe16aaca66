import { describe, expect, test } from 'vitest';
import { SchemaCollector } from './schemas.ts';
import { toV2CustomSchema, toV2Schema } from './v2-schemas.ts';

const text = { type: 'string' };
const unknown = { 'x-kubernetes-preserve-unknown-fields': true };
const identity = {
  'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
};
const meta = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

describe('a field of a custom resource', () => {
  test.each([
    ['has no default', { ...text, default: 'a', minLength: 1 }, { ...text, minLength: 1 }],
    ['is of any type where it may be null', { ...text, nullable: true }, {}],
    [
      'may have anything in it where it may be null',
      { type: 'object', nullable: true, properties: { a: text } },
      {},
    ],
    [
      'is of any type where unknown fields are kept',
      { type: 'object', ...unknown, properties: { a: text } },
      unknown,
    ],
    [
      'is of any type where it is a list of which the items are unknown',
      { type: 'array', ...unknown, items: text },
      unknown,
    ],
    [
      'may be a number or a string',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] },
      { 'x-kubernetes-int-or-string': true },
    ],
    [
      'says nothing of alternatives',
      { ...text, oneOf: [{ minLength: 1 }], allOf: [{ maxLength: 9 }], not: { enum: ['x'] } },
      text,
    ],
    [
      'need not have what may be null',
      { type: 'object', required: ['a', 'b'], properties: { a: { ...text, nullable: true }, b: text } },
      { type: 'object', required: ['b'], properties: { a: {}, b: text } },
    ],
    [
      'is converted all the way down',
      {
        type: 'array',
        items: { type: 'object', additionalProperties: { type: 'array', items: { ...text, default: '' } } },
      },
      { type: 'array', items: { type: 'object', additionalProperties: { type: 'array', items: text } } },
    ],
    [
      'says how its list merges',
      { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ],
    [
      'has the fields of every object if it is one',
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        required: ['kind'],
        properties: { spec: unknown },
      },
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        required: ['kind', 'apiVersion'],
        properties: { apiVersion: text, kind: text, metadata: meta, spec: unknown },
      },
    ],
    [
      'has them not where it keeps unknown fields',
      { type: 'object', 'x-kubernetes-embedded-resource': true, ...unknown },
      { 'x-kubernetes-embedded-resource': true, ...unknown },
    ],
  ])('%s', (_, field, expected) => {
    const schema = { type: 'object', properties: { spec: field }, ...identity };
    expect(toV2CustomSchema(schema)).toEqual({
      type: 'object',
      properties: { spec: expected },
      ...identity,
    });
  });

  test('is left out if the whole object preserves unknown fields', () => {
    const schema = {
      type: 'object',
      description: 'Free.',
      ...unknown,
      properties: { spec: text },
      ...identity,
    };
    expect(toV2CustomSchema(schema)).toEqual({ type: 'object', ...identity });
  });
});

describe('a type of the API', () => {
  const schemas = new SchemaCollector();
  schemas.reference('core/v1.Pod');
  schemas.reference('policy/v1.PodDisruptionBudget');
  schemas.reference('apiextensions.k8s.io/v1.CustomResourceDefinition');
  const definitions = Object.fromEntries(
    Object.entries(schemas.schemas).map(([name, schema]) => [name, toV2Schema(schema)]),
  );

  test('has plain references without defaults', () => {
    expect(definitions['io.k8s.api.core.v1.Pod']).toEqual({
      type: 'object',
      properties: {
        apiVersion: text,
        kind: text,
        metadata: meta,
        spec: { $ref: '#/definitions/io.k8s.api.core.v1.PodSpec' },
        status: { $ref: '#/definitions/io.k8s.api.core.v1.PodStatus' },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
    });
  });

  test('has list types and merge keys', () => {
    expect(definitions['io.k8s.api.core.v1.PodSpec']?.properties).toMatchObject({
      containers: {
        type: 'array',
        items: { $ref: '#/definitions/io.k8s.api.core.v1.Container' },
        'x-kubernetes-list-map-keys': ['name'],
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-patch-merge-key': 'name',
        'x-kubernetes-patch-strategy': 'merge',
      },
    });
  });

  test.each([
    ['io.k8s.apimachinery.pkg.api.resource.Quantity', text],
    ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { ...text, format: 'int-or-string' }],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { ...text, format: 'date-time' }],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'object' }],
    ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}],
    [
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus',
      { type: 'object' },
    ],
  ])('%s is published as in kube-apiserver', (name, expected) => {
    expect(definitions[name]).toEqual(expected);
  });
});
