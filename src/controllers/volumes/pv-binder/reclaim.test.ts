import { expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { reclaimProblem } from './reclaim.ts';

/* The server lets no volume in whose policy it doesn't know; one that is newer than we are may know more of them. */

function volumeOf(policy: string, marks: Readonly<Record<string, string>> = {}): PersistentVolume {
  const volume: unknown = {
    metadata: { name: 'v', annotations: marks },
    spec: { persistentVolumeReclaimPolicy: policy, hostPath: { path: '/a' } },
  };
  return volume as PersistentVolume;
}

test('a policy that nobody knows is a problem', () => {
  expect(reclaimProblem(volumeOf('Shred'))).toEqual({
    type: 'Warning',
    reason: 'VolumeUnknownReclaimPolicy',
    note: 'Volume has unrecognized PersistentVolumeReclaimPolicy',
  });
});

test('a volume that a CSI driver took over is its own, whatever the policy', () => {
  expect(reclaimProblem(volumeOf('Shred', { [annotations.migratedTo]: 'd.example.com' }))).toBeUndefined();
});

test('without a policy a volume is kept', () => {
  expect(reclaimProblem({ spec: {} })).toBeUndefined();
});
