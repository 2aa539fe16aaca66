import { expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { reclaimProblem } from './reclaim.ts';

/* The server accepts no volume with an unknown policy; a newer server may know more policies than we do. */

function volumeOf(policy: string, extraAnnotations: Readonly<Record<string, string>> = {}): PersistentVolume {
  const volume: unknown = {
    metadata: { name: 'v', annotations: extraAnnotations },
    spec: { persistentVolumeReclaimPolicy: policy, hostPath: { path: '/a' } },
  };
  return volume as PersistentVolume;
}

test('an unknown policy is a problem', () => {
  expect(reclaimProblem(volumeOf('Shred'))).toEqual({
    type: 'Warning',
    reason: 'VolumeUnknownReclaimPolicy',
    note: 'Volume has unrecognized PersistentVolumeReclaimPolicy',
  });
});

test('a volume of a migrated plugin is left to its driver, whatever the policy', () => {
  expect(reclaimProblem(volumeOf('Shred', { [annotations.migratedTo]: 'd.example.com' }))).toBeUndefined();
});

test('a volume without a policy is kept', () => {
  expect(reclaimProblem({ spec: {} })).toBeUndefined();
});
