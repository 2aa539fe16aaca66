import { expect, test } from 'vitest';
import type { StatefulSet } from '../../../kube/api/stored/apps.ts';
import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { statefulSetKind } from '../apps/stateful-set.ts';
import { builtInKindCatalog } from '../built-in-kinds.ts';
import type { ServedKind, StoredObject } from '../served-kind.ts';
import { checkScale, scaleRow } from './scale.ts';

const scaled = builtInKindCatalog().all.filter(({ scale }) => scale);

test('four kinds have a scale subresource', () => {
  expect(scaled.map(({ kind }) => kind)).toEqual([
    'ReplicationController',
    'StatefulSet',
    'Deployment',
    'ReplicaSet',
  ]);
});

test.each(scaled.map((kind): [string, ServedKind] => [kind.kind, kind]))(
  '%s reads and writes its scale',
  (_name, kind) => {
    const selector = kind.kind === 'ReplicationController' ? { a: 'b' } : { matchLabels: { a: 'b' } };
    const fields = { metadata: { name: 'w' }, spec: { replicas: 3, selector }, status: { replicas: 2 } };
    const object = normalize(kind.type, fields).object as unknown as StoredObject;
    expect(kind.scale?.read(object)).toEqual({ desired: 3, current: 2, selector: 'a=b' });
    kind.scale?.write(object, 7);
    expect(kind.scale?.read(object).desired).toBe(7);
  },
);

test('a selector that selects nothing is the empty string', () => {
  const set = normalize('apps/v1.StatefulSet', { metadata: {} }).object as unknown as StatefulSet;
  expect(statefulSetKind.scale?.read(set)).toEqual({ desired: 0, current: 0, selector: '' });
});

test('negative replicas are refused', () => {
  const errors = new FieldErrors();
  const scale = normalize('autoscaling/v1.Scale', {
    metadata: { name: 'w' },
    spec: { replicas: -1 },
    status: { replicas: 2 },
  }).object as unknown as Scale;
  checkScale(scale, errors);
  expect(errors.causes).toEqual([
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      message: 'Invalid value: -1: must be greater than or equal to 0',
    },
  ]);
  expect(scaleRow(scale, { nowMs: 0 })).toEqual(['w', -1, 2, '<unknown>']);
});
