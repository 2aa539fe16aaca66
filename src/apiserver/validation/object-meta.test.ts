import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../kube/api/stored/meta.ts';
import { FieldErrors } from './field-errors.ts';
import { nameRules } from './names.ts';
import { checkObjectMeta, checkObjectMetaUpdate, type MetaRules } from './object-meta.ts';

const namespaced: MetaRules = { namespaced: true, nameRule: nameRules.dnsSubdomain };
const clusterWide: MetaRules = { namespaced: false, nameRule: nameRules.dnsSubdomain };

describe('metadata of a new object', () => {
  test.each<[string, ObjectMeta, MetaRules, readonly string[]]>([
    ['is valid', { name: 'a', namespace: 'b' }, namespaced, []],
    [
      'lacks a name and a namespace',
      {},
      namespaced,
      [
        'metadata.name: Required value: name or generateName is required',
        'metadata.namespace: Required value',
      ],
    ],
    [
      'has a namespace although its kind has none',
      { name: 'a', namespace: 'b' },
      clusterWide,
      ['metadata.namespace: Forbidden: not allowed on this type'],
    ],
    [
      'has a namespace with dots',
      { name: 'a', namespace: 'b.c' },
      namespaced,
      ['metadata.namespace: Invalid value: "b.c": must not contain dots'],
    ],
    [
      'has a generation below zero',
      { name: 'a', generation: -1 },
      clusterWide,
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'has too large annotations',
      { name: 'a', annotations: { a: 'x'.repeat(256 * 1024) } },
      clusterWide,
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'has a finalizer without a domain',
      { name: 'a', finalizers: ['mine', 'kubernetes', 'example.com/x'] },
      clusterWide,
      [
        'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      'has such a finalizer where the kind allows it',
      { name: 'a', finalizers: ['mine'] },
      { ...clusterWide, allowsAnyFinalizer: true },
      [],
    ],
    [
      'has invalid managed fields',
      {
        name: 'a',
        managedFields: [
          { operation: 'Guess', fieldsType: 'FieldsV2', manager: 'm', subresource: 's'.repeat(257) },
        ],
      },
      clusterWide,
      [
        'metadata.managedFields[0].operation: Invalid value: "Guess": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
        'metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes',
      ],
    ],
  ])('%s', (_name, meta, rules, expected) => {
    const errors = new FieldErrors();
    checkObjectMeta(errors, meta, rules);
    expect(reportedErrors(errors)).toEqual(expected);
  });

  test('has a generateName, which is validated and may end in a dash', () => {
    const errors = new FieldErrors();
    checkObjectMeta(errors, { generateName: 'web-', name: 'web-x' }, clusterWide);
    expect(reportedErrors(errors)).toEqual([]);
    checkObjectMeta(errors, { generateName: 'We-', name: 'web-x' }, clusterWide);
    expect(errors.causes.map(({ field }) => field)).toEqual(['metadata.generateName']);
  });
});

describe('metadata of an update', () => {
  const old: ObjectMeta = {
    name: 'a',
    namespace: 'b',
    uid: 'u',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['example.com/x'],
  };
  const deleted: ObjectMeta = {
    ...old,
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 0,
  };

  test.each<[string, ObjectMeta, ObjectMeta, readonly string[]]>([
    ['stays', old, old, []],
    ['gets finalizers', { ...old, finalizers: ['a b'] }, old, []],
    [
      'gets finalizers during its deletion',
      { ...deleted, finalizers: ['example.com/z', 'example.com/x', 'example.com/y'] },
      deleted,
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/y", "example.com/z"}',
      ],
    ],
    ['loses its finalizers during its deletion', { ...deleted, finalizers: undefined }, deleted, []],
    [
      'has no resourceVersion and a lower generation',
      { ...old, resourceVersion: undefined, generation: 2 },
      old,
      [
        'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        'metadata.generation: Invalid value: 2: must not be decremented',
      ],
    ],
    [
      'has the identity of another object',
      {
        resourceVersion: '7',
        generation: 3,
        name: 'x',
        namespace: 'y',
        uid: 'z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        deletionGracePeriodSeconds: 5,
      },
      old,
      [
        'metadata.name: Invalid value: "x": field is immutable',
        'metadata.namespace: Invalid value: "y": field is immutable',
        'metadata.uid: Invalid value: "z": field is immutable',
        'metadata.creationTimestamp: Invalid value: null: field is immutable',
        'metadata.deletionTimestamp: Invalid value: "2026-01-02T00:00:00Z": field is immutable',
        'metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
      ],
    ],
  ])('%s', (_name, meta, before, expected) => {
    const errors = new FieldErrors();
    checkObjectMetaUpdate(errors, meta, before);
    expect(reportedErrors(errors)).toEqual(expected);
  });
});

function reportedErrors(errors: FieldErrors): readonly string[] {
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}
