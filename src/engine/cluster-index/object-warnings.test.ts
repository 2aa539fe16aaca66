import { expect, test } from 'vitest';
import { capacity, volume } from '../testing/objects.ts';
import { ClusterIndex } from './cluster-index.ts';

test('a notice names the object and the field, and what to write instead', () => {
  const { warnings: notices } = new ClusterIndex().upsert('PersistentVolume', volume('v1', '10Gx'));
  expect(notices).toEqual([
    {
      kind: 'PersistentVolume',
      key: 'v1',
      problem: expect.stringMatching(/^spec\.capacity\.storage: "10Gx" is not a quantity; /),
    },
  ]);
});

test('a notice names a pool as people do', () => {
  const { warnings: notices } = new ClusterIndex().upsert(
    'CSIStorageCapacity',
    capacity('pool', 'fast', { capacity: '10Gx' }),
  );
  expect(notices).toMatchObject([{ kind: 'CSIStorageCapacity', key: 'storage/pool' }]);
});

test('a notice quotes only the beginning of a text that has no end', () => {
  const { warnings: notices } = new ClusterIndex().upsert(
    'PersistentVolume',
    volume('v1', 'x'.repeat(100_000)),
  );
  expect(notices).toHaveLength(1);
  expect(notices[0]!.problem.length).toBeLessThan(600);
});

test('an object with very many problems gives the first and a count of the rest', () => {
  const accessModes = Array.from({ length: 1000 }, (_, position) => `Mode${position}`) as never[];
  const { warnings: notices } = new ClusterIndex().upsert(
    'PersistentVolume',
    volume('v1', '1Gi', { spec: { accessModes } }),
  );
  expect(notices).toHaveLength(21);
  expect(notices[20]!.problem).toBe('and more: 980 further problems of this object are left out');
});
