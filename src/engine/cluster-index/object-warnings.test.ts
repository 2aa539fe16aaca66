import { expect, test } from 'vitest';
import { storageCapacity, volume } from '../testing/objects.ts';
import { ClusterIndex } from './cluster-index.ts';

test('a warning names the object, the field and a valid value', () => {
  const { warnings } = new ClusterIndex().upsert('PersistentVolume', volume('v1', '10Gx'));
  expect(warnings).toEqual([
    {
      kind: 'PersistentVolume',
      key: 'v1',
      problem: expect.stringMatching(/^spec\.capacity\.storage: "10Gx" is not a quantity; /),
    },
  ]);
});

test('a warning about a pool names the CSIStorageCapacity by namespace and name', () => {
  const { warnings } = new ClusterIndex().upsert(
    'CSIStorageCapacity',
    storageCapacity('pool', 'fast', { capacity: '10Gx' }),
  );
  expect(warnings).toMatchObject([{ kind: 'CSIStorageCapacity', key: 'storage/pool' }]);
});

test('a warning quotes only the beginning of a very long value', () => {
  const { warnings } = new ClusterIndex().upsert('PersistentVolume', volume('v1', 'x'.repeat(100_000)));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]!.problem.length).toBeLessThan(600);
});

test('an object with very many problems gets the first warnings and a count of the rest', () => {
  const accessModes = Array.from({ length: 1000 }, (_, position) => `Mode${position}`) as never[];
  const { warnings } = new ClusterIndex().upsert(
    'PersistentVolume',
    volume('v1', '1Gi', { spec: { accessModes } }),
  );
  expect(warnings).toHaveLength(21);
  expect(warnings[20]!.problem).toBe('and more: 980 further problems of this object are omitted');
});
