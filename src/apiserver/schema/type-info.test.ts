import { describe, expect, test } from 'vitest';
import { fieldTableAt, fieldTableOf, fieldTablesOf, kindTypes, openApiName, structIn } from './type-info.ts';
import { tableIds, tableOf } from './type-table.ts';

describe('the tables', () => {
  test.each([
    [
      'volumes of a pod merge by name and drop the keys of the old source',
      'core/v1.PodSpec',
      'volumes',
      { patchStrategies: ['merge', 'retainKeys'], mergeKey: 'name', listType: 'map', listKeys: ['name'] },
    ],
    [
      'ports merge by one key in patches, by two in apply',
      'core/v1.Container',
      'ports',
      { mergeKey: 'containerPort', listType: 'map', listKeys: ['containerPort', 'protocol'] },
    ],
    [
      'tolerations are one piece',
      'core/v1.PodSpec',
      'tolerations',
      { patchStrategies: [], listType: 'atomic' },
    ],
    [
      'finalizers are a set',
      'meta/v1.ObjectMeta',
      'finalizers',
      { patchStrategies: ['merge'], listType: 'set' },
    ],
    ['node selectors are one piece', 'core/v1.PodSpec', 'nodeSelector', { mapType: 'atomic' }],
    [
      'storageClassName of a claim is a pointer',
      'core/v1.PersistentVolumeClaimSpec',
      'storageClassName',
      { isPointer: true, omitsEmpty: true, number: 5 },
    ],
    [
      'storageClassName of a volume is none',
      'core/v1.PersistentVolumeSpec',
      'storageClassName',
      { isPointer: false },
    ],
    [
      'selectors of workloads are required',
      'apps/v1.StatefulSetSpec',
      'selector',
      { isRequired: true, isPointer: true, omitsEmpty: false },
    ],
    ['protocols have a default', 'core/v1.ContainerPort', 'protocol', { defaultJson: '"TCP"' }],
  ])('%s', (_, type, name, expected) => {
    expect(fieldTableOf(type, name)).toMatchObject(expected);
  });

  test('fields of embedded structs are included', () => {
    expect([...fieldTablesOf('core/v1.SecretKeySelector').keys()]).toEqual(['name', 'key', 'optional']);
  });

  test('paths lead through lists and maps', () => {
    expect(fieldTableAt('core/v1.Pod', ['spec', 'volumes', 'hostPath', 'path'])?.type.form).toBe('string');
    expect(fieldTableAt('core/v1.Pod', ['spec', 'nodeName', 'x'])).toBeUndefined();
    expect(fieldTableAt('core/v1.Pod', ['spec', 'nothing'])).toBeUndefined();
  });

  test('atomic structs are marked', () => {
    expect(tableOf('core/v1.NodeSelector').isAtomic).toBe(true);
    expect(tableOf('core/v1.PodSpec').isAtomic).toBe(false);
  });
});

test('every type refers to existing types', () => {
  const ids = new Set(tableIds());
  const referred = [...ids].flatMap((id) =>
    [...fieldTablesOf(id).values()].map(({ type }) => structIn(type)),
  );
  expect(referred.filter((id) => id !== undefined && !ids.has(id))).toEqual([]);
});

test('every kind has a name in OpenAPI', () => {
  expect(kindTypes()).toContain('storage.k8s.io/v1.StorageClass');
  expect(kindTypes().filter((id) => !openApiName(id).startsWith('io.k8s.'))).toEqual([]);
  expect(openApiName('storage.k8s.io/v1.CSINode')).toBe('io.k8s.api.storage.v1.CSINode');
  expect(openApiName('meta/v1.ObjectMeta')).toBe('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
});
