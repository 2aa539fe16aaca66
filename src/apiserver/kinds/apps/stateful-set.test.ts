import { expect, test } from 'vitest';
import type { StatefulSet } from '../../../kube/api/stored/apps.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { statefulSetKind } from './stateful-set.ts';

function statefulSet(spec: object = {}): StatefulSet {
  const set = normalize('apps/v1.StatefulSet', {
    metadata: { name: 's', namespace: 'n' },
    spec: {
      serviceName: 's',
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'nginx' }] },
      },
      ...spec,
    },
  }).object as unknown as StatefulSet;
  statefulSetKind.defaults?.(set);
  return set;
}

function updateCauses(set: StatefulSet, old: StatefulSet): readonly object[] {
  const errors = new FieldErrors();
  statefulSetKind.validateUpdate?.(set, old, errors);
  return errors.causes;
}

test('defaults are complete', () => {
  expect(statefulSet().spec).toMatchObject({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
});

test('defaulting twice changes nothing', () => {
  const once = statefulSet({
    volumeClaimTemplates: [
      {
        metadata: { name: 'd' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  });
  const twice = structuredClone(once);
  statefulSetKind.defaults?.(twice);
  expect(twice).toEqual(once);
});

test('a set whose template was already invalid can be scaled', () => {
  const wrong = { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [] } } };
  expect(updateCauses(statefulSet({ ...wrong, replicas: 5 }), statefulSet(wrong))).toEqual([]);
  expect(updateCauses(statefulSet(wrong), statefulSet())).toHaveLength(1);
});

test('an existing service name may violate a newer rule', () => {
  const invalidName = { serviceName: 'A.b' };
  expect(updateCauses(statefulSet({ ...invalidName, replicas: 5 }), statefulSet(invalidName))).toEqual([]);
});

test('an update keeps a stored maxUnavailable, and validates it', () => {
  const used = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } };
  const old = statefulSet(used);
  const set = statefulSet({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '0%' } },
  });
  statefulSetKind.prepareUpdate?.(set, old, { nowMs: 0 });
  expect(updateCauses(set, old)).toEqual([
    {
      reason: 'FieldValueInvalid',
      field: 'spec.updateStrategy.rollingUpdate.maxUnavailable',
      message: 'Invalid value: "0%": cannot be 0',
    },
  ]);
});
