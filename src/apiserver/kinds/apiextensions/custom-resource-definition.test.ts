import { expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../../kube/api/stored/apiextensions.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { customResourceDefinitionKind as kind } from './custom-resource-definition.ts';

const schema = { type: 'object', properties: { spec: { type: 'object' } } };

function definition(spec: object = {}, status: object = {}): CustomResourceDefinition {
  const given = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
    status,
  };
  const object = normalize(kind.type, given).object as unknown as CustomResourceDefinition;
  kind.defaults?.(object);
  return object;
}

function problemsOf(object: CustomResourceDefinition, old?: CustomResourceDefinition): readonly string[] {
  const errors = new FieldErrors();
  if (old === undefined) kind.validate(object, errors);
  else kind.validateUpdate?.(object, old, errors);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

const withSchema = (openAPIV3Schema: object) => ({
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
});

test('absent names default from the kind, in the order in which clients write them', () => {
  expect(Object.entries(definition().spec.names).filter(([, value]) => value !== undefined)).toEqual([
    ['plural', 'widgets'],
    ['singular', 'widget'],
    ['kind', 'Widget'],
    ['listKind', 'WidgetList'],
  ]);
});

test('a new definition has only the storage version in its status', () => {
  const created = definition(
    {},
    { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v7'] },
  );
  kind.prepareCreate?.(created, { nowMs: 0 });
  expect(created.status).toEqual({
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1'],
  });
  expect(problemsOf(created)).toEqual([]);
});

test('a new storage version is added to the stored versions, and the old ones must stay', () => {
  const old = definition({}, { storedVersions: ['v1'] });
  const only = { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const changed = definition({ versions: [only] });
  kind.prepareUpdate?.(changed, old, { nowMs: 0 });
  expect(changed.status.storedVersions).toEqual(['v1', 'v2']);
  expect(old.status.storedVersions).toEqual(['v1']);
  expect(problemsOf(changed, old)).toEqual([
    expect.stringContaining('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions;'),
  ]);
});

test('scope and kind are immutable once the definition is established', () => {
  const changed = definition({ scope: 'Cluster', names: { plural: 'widgets', kind: 'Gadget' } });
  changed.status.storedVersions = ['v1'];
  expect(problemsOf(changed, definition())).toEqual([]);
  const served = definition({}, { conditions: [{ type: 'Established', status: 'True' }] });
  expect(problemsOf(changed, served)).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Gadget": field is immutable',
  ]);
});

test('webhook conversion is refused with a reason', () => {
  const webhook = { clientConfig: { url: 'https://example.com' }, conversionReviewVersions: ['v1'] };
  expect(problemsOf(definition({ conversion: { strategy: 'Webhook', webhook } }))).toEqual([
    'spec.conversion.strategy: Forbidden: must be None, because this server calls no webhooks',
  ]);
});

test('a deletion adds a finalizer and a condition, and keeps the existing ones', () => {
  const conditions = [
    { type: 'Terminating', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Before' },
    { type: 'Established', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const object = definition({}, { conditions });
  object.metadata.finalizers = ['example.com/mine'];
  object.metadata.deletionTimestamp = '2026-02-02T00:00:00Z';
  kind.beginDeletion?.(object);
  expect(object.metadata.finalizers).toEqual([
    'example.com/mine',
    'customresourcecleanup.apiextensions.k8s.io',
  ]);
  expect(object.status.conditions).toEqual([
    {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: '2026-02-02T00:00:00Z',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    conditions[1],
  ]);
});

test('warnings name each new unknown format once', () => {
  const fields = (...formats: readonly string[]) =>
    withSchema({
      type: 'object',
      properties: Object.fromEntries(formats.map((format, at) => [`f${at}`, { type: 'string', format }])),
    });
  const old = definition(fields('one', 'date-time'));
  expect(kind.warnings?.(old, undefined)).toEqual(['unrecognized format "one"']);
  expect(kind.warnings?.(definition(fields('one', 'two', 'two')), old)).toEqual([
    'unrecognized format "two"',
  ]);
});

test('inherited JavaScript property names are not fields of a schema', () => {
  const listed = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['constructor'],
    items: { type: 'object', properties: { a: { type: 'string' } } },
  };
  const validated = { type: 'object', allOf: [{ properties: { toString: { minLength: 1 } } }] };
  const path = 'spec.validation.openAPIV3Schema';
  expect(problemsOf(definition(withSchema({ type: 'object', properties: { listed } })))).toEqual([
    `${path}.properties[listed].x-kubernetes-list-map-keys: Invalid value: ["constructor"]: entries must all be names of item properties`,
  ]);
  expect(problemsOf(definition(withSchema(validated)))).toEqual([
    `${path}.properties[toString]: Required value: because it is defined in ${path}.allOf[0].properties[toString]`,
  ]);
});

test.each([
  ['.spec', 'must point to a field of type string, boolean or integer'],
  ['.constructor', 'is an invalid path: does not refer to a valid field'],
  ['.', 'is an invalid path: unexpected end of JSON path'],
  ['spec', 'is an invalid path: expected [ or . but got: spec'],
  [".'spec", 'is an invalid path: does not refer to a valid field'],
  ["['spec']", 'is an invalid path: array notation is not allowed'],
])('the selectable field %s is refused', (jsonPath, problem) => {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const object = definition({ versions: [{ ...version, selectableFields: [{ jsonPath }] }] });
  expect(problemsOf(object)).toEqual([
    expect.stringContaining(`spec.selectableFields[0].jsonPath: Invalid value: "${jsonPath}": ${problem}`),
  ]);
});
