import { describe, expect, test } from 'vitest';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import { claim, csiClass, csiDriver, node, pod, storageCapacity } from '../../testing/objects.ts';

const noSpace: PlanOutcome = {
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

describe('classes with the same backing pool draw on the same disks', () => {
  const classOn = (name: string, marks: Record<string, string>, version = '1') => {
    const made = csiClass('disk.csi', name);
    return { ...made, metadata: { ...made.metadata, resourceVersion: version, annotations: marks } };
  };
  const shared = (factor?: string) => ({
    [labels.backingPool]: 'vg',
    ...(factor !== undefined && { [annotations.backingFactor]: factor }),
  });
  /** Striped, the disks have 20Gi, mirrored 10Gi. */
  const cluster = (local: Record<string, string>, other: Record<string, string>, mirrored = '10Gi') =>
    clusterOf({
      CSIStorageCapacity: [
        storageCapacity('striped', 'local', { capacity: '20Gi' }),
        storageCapacity('mirrored', 'other', { capacity: mirrored }),
      ],
      Node: [node('n1')],
      StorageClass: [classOn('local', local), classOn('other', other)],
      CSIDriver: [csiDriver('disk.csi')],
      PersistentVolumeClaim: [
        claim('a', '12Gi'),
        claim('b', '5Gi', { className: 'other' }),
        claim('c', '3Gi', { className: 'other' }),
      ],
    });
  const planned = (index: ClusterIndex, ...claims: string[]) => planOutcome(index, pod('p', claims));

  test('by the ratio of their capacity reports', () => {
    const apart = cluster({}, {});
    expect(planned(apart, 'a', 'b')).toMatchObject({ node: 'n1' });
    const together = cluster(shared(), shared());
    expect(planned(together, 'a', 'b')).toEqual(noSpace);
    expect(planned(together, 'a', 'c')).toMatchObject({ node: 'n1' });
  });

  test('by the factors of the classes, also if one of the reports is wrong', () => {
    const index = cluster(shared('1'), shared('2'), '20Gi');
    expect(planned(index, 'a', 'b')).toEqual(noSpace);
    expect(planned(index, 'a', 'c')).toMatchObject({ node: 'n1' });
  });

  test('from the moment on when the class says so, until it says otherwise', () => {
    const index = cluster(shared('1'), {});
    expect(planned(index, 'a', 'b')).toMatchObject({ node: 'n1' });
    index.upsert('StorageClass', classOn('other', shared('2'), '2'));
    expect(planned(index, 'a', 'b')).toEqual(noSpace);
    index.upsert('StorageClass', classOn('other', {}, '3'));
    expect(planned(index, 'a', 'b')).toMatchObject({ node: 'n1' });
  });

  test('but not those of another driver', () => {
    const index = cluster(shared('1'), shared('2'));
    index.upsert('StorageClass', {
      ...csiClass('other.csi', 'other'),
      metadata: { name: 'other', resourceVersion: '2', annotations: shared('2') },
    });
    index.upsert('CSIDriver', csiDriver('other.csi'));
    expect(planned(index, 'a', 'b')).toMatchObject({ node: 'n1' });
  });

  test.each([
    [{ [labels.backingPool]: 'vg', [annotations.backingFactor]: 'two' }, 'must be a decimal number'],
    [{ [labels.backingPool]: 'vg', [annotations.backingFactor]: '0' }, 'must be a decimal number'],
    [{ [annotations.backingFactor]: '2' }, 'has no effect without stowage.dev/backing-pool'],
  ])('and an invalid annotation %o is reported', (marks, problem) => {
    const { warnings } = clusterOf({}).upsert('StorageClass', classOn('local', marks));
    expect(warnings).toMatchObject([{ kind: 'StorageClass', problem: expect.stringContaining(problem) }]);
  });
});
