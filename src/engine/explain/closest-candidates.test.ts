import { expect, test } from 'vitest';
import { stowageProfile } from '../cluster-index/profile.ts';
import { clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, node, pod, storageCapacity } from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';
import { closestCandidates } from './closest-candidates.ts';

test('the candidate that misses least comes first, also if promises make it fail two checks', () => {
  const pool = (zone: string, capacity: string) =>
    storageCapacity(zone, 'dyn', { capacity, nodeTopology: { matchLabels: { zone } } });
  const index = clusterOf(
    {
      Node: [node('a', { zone: 'a' }), node('b', { zone: 'b' }), node('c', { zone: 'c' })],
      CSIDriver: [csiDriver('d')],
      StorageClass: [csiClass('d', 'dyn')],
      CSIStorageCapacity: [pool('a', '80Gi'), pool('b', '30Gi'), pool('c', '45Gi')],
      PersistentVolumeClaim: [
        claim('data', '50Gi', { className: 'dyn' }),
        claim('in-flight', '60Gi', { className: 'dyn', selectedNode: 'a' }),
      ],
    },
    stowageProfile,
  );
  const refusal = plan(pod('p', ['data']), index, { nowMs: 0 });
  if (refusal.kind === 'placement') throw new Error('the pod fits');
  const [close] = closestCandidates(refusal.explain().nodes, 5);
  expect(close?.candidates.map(({ name }) => name.split('/').at(-1))).toEqual(['c', 'b', 'a']);
});
