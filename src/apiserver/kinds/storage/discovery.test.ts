import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../built-in-kinds.ts';
import { storageKinds } from './index.ts';

/** As kube-apiserver's discovery lists them. The last column: whether there is a status subresource. */
test.each([
  ['', 'PersistentVolumeClaim', 'persistentvolumeclaims', ['pvc'], true, true],
  ['', 'PersistentVolume', 'persistentvolumes', ['pv'], false, true],
  ['storage.k8s.io', 'CSIDriver', 'csidrivers', undefined, false, false],
  ['storage.k8s.io', 'CSINode', 'csinodes', undefined, false, false],
  ['storage.k8s.io', 'CSIStorageCapacity', 'csistoragecapacities', undefined, true, false],
  ['storage.k8s.io', 'StorageClass', 'storageclasses', ['sc'], false, false],
  ['storage.k8s.io', 'VolumeAttachment', 'volumeattachments', undefined, false, true],
  ['storage.k8s.io', 'VolumeAttributesClass', 'volumeattributesclasses', ['vac'], false, false],
])('%s %s', (group, kind, plural, shortNames, namespaced, hasStatus) => {
  const found = builtInKindCatalog().inGroup(group, kind);
  const singular = kind.toLowerCase();
  expect(found).toMatchObject({ group, version: 'v1', plural, singular, namespaced, hasStatus });
  expect(found?.shortNames).toEqual(shortNames);
  expect(found?.categories).toBeUndefined();
});

test('the group has no other kinds', () => {
  expect(storageKinds).toHaveLength(6);
});
