import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { CSIDriver, CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { labels } from '../../../kube/well-known.ts';
import { stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  byName,
  capacity,
  claim,
  csiDriver,
  driverCapacity,
  hostname,
  madeBy,
  node,
  pod,
  pool,
  zone,
} from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';

const noSpace: PlanOutcome = {
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

function from(poolName: string): PlanOutcome {
  return { node: 'n1', volumes: {}, pools: { data: poolName } };
}

const unasked = from('new');
const onNode = { matchLabels: { [hostname]: 'n1' } };

/** A claim of 5Gi whose class is made by `disk.csi`; one node, in zone a. The same under both profiles. */
interface Case {
  readonly name: string;
  readonly capacities: readonly CSIStorageCapacity[];
  readonly driver?: CSIDriver | null;
  readonly claim?: PersistentVolumeClaim;
  readonly expected: PlanOutcome;
}

function clusterWith({ capacities, driver = csiDriver('disk.csi'), claim: wanted }: Case): ClusterObjects {
  return {
    Node: [node('n1', { [zone]: 'a' })],
    StorageClass: [madeBy('disk.csi', 'local'), madeBy('disk.csi', 'other')],
    CSIDriver: driver === null ? [] : [driver],
    CSIStorageCapacity: capacities,
    PersistentVolumeClaim: [wanted ?? claim('data', '5Gi')],
  };
}

function expectBoth(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, entry) => {
    const objects = clusterWith(entry);
    expectOutcomes(objects, pod('p', ['data']), entry.expected);
  });
}

describe('a node has room', () => {
  expectBoth([
    {
      name: 'from storage that every node reaches: an empty selector',
      capacities: [capacity('net', 'local', { capacity: '10Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'from its own storage',
      capacities: [capacity('here', 'local', { capacity: '10Gi', nodeTopology: onNode })],
      expected: from('storage/here'),
    },
    {
      name: 'from any of several',
      capacities: [
        capacity('a', 'other', { capacity: '10Gi' }),
        capacity('b', 'local', { capacity: '1Gi' }),
        capacity('c', 'local', { capacity: '10Gi', nodeTopology: { matchLabels: { [zone]: 'b' } } }),
        capacity('d', 'local', { capacity: '10Gi', nodeTopology: onNode }),
      ],
      expected: from('storage/d'),
    },
    {
      name: 'for exactly what is left',
      capacities: [capacity('net', 'local', { capacity: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'for a volume of the largest size',
      capacities: [capacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'where only the largest size is published',
      capacities: [capacity('net', 'local', { maximumVolumeSize: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'by a selector with expressions',
      capacities: [
        capacity('net', 'local', {
          capacity: '10Gi',
          nodeTopology: {
            matchExpressions: [
              { key: zone, operator: 'In', values: ['a', 'b'] },
              { key: 'cordon', operator: 'DoesNotExist' },
            ],
          },
        }),
      ],
      expected: from('storage/net'),
    },
  ]);
});

describe('a node has no room', () => {
  expectBoth([
    { name: 'where nothing is published', capacities: [], expected: noSpace },
    {
      name: 'where what is published is of another node',
      capacities: [
        capacity('there', 'local', { capacity: '10Gi', nodeTopology: { matchLabels: { [hostname]: 'n2' } } }),
      ],
      expected: noSpace,
    },
    {
      name: 'where what is published has no selector, not even an empty one',
      capacities: [{ ...capacity('lost', 'local', { capacity: '10Gi' }), nodeTopology: null as never }],
      expected: noSpace,
    },
    {
      name: 'where the selector cannot be read',
      capacities: [
        capacity('bad', 'local', {
          capacity: '10Gi',
          nodeTopology: { matchExpressions: [{ key: zone, operator: 'Gt' as 'In', values: ['1'] }] },
        }),
      ],
      expected: noSpace,
    },
    {
      name: 'where what is published is of another class',
      capacities: [capacity('net', 'other', { capacity: '10Gi' })],
      expected: noSpace,
    },
    {
      name: 'where less is left than is asked for',
      capacities: [capacity('net', 'local', { capacity: '4Gi' })],
      expected: noSpace,
    },
    {
      name: 'where enough is left but no volume of that size can be made',
      capacities: [capacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '4Gi' })],
      expected: noSpace,
    },
    {
      name: 'where zero is left',
      capacities: [capacity('net', 'local', { capacity: '0' })],
      expected: noSpace,
    },
    {
      name: 'where the largest volume is of size zero',
      capacities: [capacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '0' })],
      expected: noSpace,
    },
    { name: 'where no size is published', capacities: [capacity('net', 'local')], expected: noSpace },
    {
      name: 'where the size cannot be read',
      capacities: [capacity('net', 'local', { capacity: 'plenty' })],
      expected: noSpace,
    },
    {
      name: 'a byte short',
      capacities: [capacity('net', 'local', { capacity: '5368709119' })],
      expected: noSpace,
    },
  ]);
});

describe('nobody is asked for room', () => {
  const full = [capacity('net', 'local', { capacity: '0' })];
  expectBoth([
    { name: 'where the driver has no CSIDriver object', capacities: full, driver: null, expected: unasked },
    {
      name: 'where another driver tracks capacity',
      capacities: full,
      driver: csiDriver('another.csi'),
      expected: unasked,
    },
    {
      name: 'where the driver does not say whether it tracks capacity',
      capacities: full,
      driver: csiDriver('disk.csi', {}),
      expected: unasked,
    },
    {
      name: 'where the driver says that it does not track capacity',
      capacities: full,
      driver: csiDriver('disk.csi', { storageCapacity: false }),
      expected: unasked,
    },
    {
      name: 'by a claim without a size',
      capacities: full,
      claim: claim('data', '', { spec: { resources: {} } }),
      expected: unasked,
    },
  ]);
});

describe('the numbers are followed', () => {
  const full = { name: '', capacities: [capacity('net', 'local', { capacity: '4Gi' })], expected: noSpace };

  test('as they grow and shrink', () => {
    const index = clusterOf(clusterWith(full));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: '5Gi', version: '2' }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(from('storage/net'));
    index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: '3Gi', version: '3' }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.remove('CSIStorageCapacity', 'storage/net');
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
  });

  test('by the newest version: one that arrives late changes nothing', () => {
    const index = clusterOf(clusterWith(full));
    index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: '5Gi', version: '11' }));
    const late = index.upsert(
      'CSIStorageCapacity',
      capacity('net', 'local', { capacity: '1Gi', version: '9' }),
    );
    expect(late.change).toBeUndefined();
    expect(planOutcome(index, pod('p', ['data']))).toEqual(from('storage/net'));
  });

  test('as the driver starts and stops tracking', () => {
    const index = clusterOf(clusterWith({ ...full, driver: csiDriver('disk.csi', {}) }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unasked);
    index.upsert('CSIDriver', tracking('2', true));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.upsert('CSIDriver', tracking('3', false));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unasked);
  });

  test('of one driver only: the class says whose they are', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [madeBy('other.csi', 'local')],
      CSIDriver: [csiDriver('disk.csi')],
      CSIStorageCapacity: [capacity('net', 'local', { capacity: '1Gi' })],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unasked);
  });
});

describe('where a driver publishes both forms', () => {
  const objects: ClusterObjects = {
    Node: [node('n1')],
    StorageClass: [madeBy('disk.csi', 'local')],
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: [capacity('native', 'local', { capacity: '3Gi' })],
    DriverCapacity: [
      driverCapacity('disk.csi', [{ storageClassName: 'local', pools: [pool('own', '4Gi')] }]),
    ],
  };
  const asking = (size: string): ClusterObjects => ({
    ...objects,
    PersistentVolumeClaim: [claim('data', size)],
  });

  test('one of them counts, by the profile', () => {
    expect(planOutcome(clusterOf(asking('2Gi')), pod('p', ['data']))).toEqual(from('own'));
    const native = { ...stowageProfile, poolForms: ['CSIStorageCapacity' as const] };
    expect(planOutcome(clusterOf(asking('2Gi'), native), pod('p', ['data']))).toEqual(from('storage/native'));
    expect(planOutcome(clusterOf(asking('4Gi'), native), pod('p', ['data']))).toEqual(noSpace);
  });

  test('their sum never counts', () => {
    const index = clusterOf({
      ...asking('3Gi'),
      PersistentVolumeClaim: [claim('a', '3Gi'), claim('b', '3Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(noSpace);
  });

  test('kube-scheduler knows nothing of a DriverCapacity, with or without a CSIDriver', () => {
    expect(planOutcome(clusterOf(asking('3Gi'), upstreamProfile), pod('p', ['data']))).toEqual(
      from('storage/native'),
    );
    const withoutDriver = { ...asking('9Gi'), CSIDriver: [] };
    expect(planOutcome(clusterOf(withoutDriver, upstreamProfile), pod('p', ['data']))).toEqual(unasked);
  });
});

describe('capacity objects with the same backing label draw on the same disks', () => {
  const backed = (name: string, className: string, size: string, largest?: string): CSIStorageCapacity => ({
    ...capacity(name, className, { capacity: size, ...(largest && { maximumVolumeSize: largest }) }),
    metadata: {
      namespace: 'storage',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: { [labels.backingPool]: 'vg-1' },
    },
  });
  const objects: ClusterObjects = {
    Node: [node('n1')],
    StorageClass: [madeBy('disk.csi', 'local'), madeBy('disk.csi', 'other')],
    CSIDriver: [csiDriver('disk.csi')],
  };

  test('so that two classes cannot both use them up', () => {
    const claims = [claim('a', '6Gi'), claim('b', '6Gi', { className: 'other' })];
    const apart = [
      capacity('one', 'local', { capacity: '10Gi' }),
      capacity('two', 'other', { capacity: '10Gi' }),
    ];
    const together = [backed('one', 'local', '10Gi'), backed('two', 'other', '10Gi')];
    const planned = (capacities: readonly CSIStorageCapacity[]) =>
      planOutcome(
        clusterOf({ ...objects, CSIStorageCapacity: capacities, PersistentVolumeClaim: claims }),
        pod('p', ['a', 'b']),
      );
    expect(planned(apart)).toMatchObject({ pools: { a: 'storage/one', b: 'storage/two' } });
    expect(planned(together)).toEqual(noSpace);
  });

  test('and of two for one class, the one that has room is the one that is reserved', () => {
    const index = clusterOf({
      ...objects,
      CSIStorageCapacity: [backed('large', 'local', '10Gi'), backed('small', 'local', '10Gi', '1Gi')],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(from('storage/large'));
  });
});

function tracking(version: string, storageCapacity: boolean): CSIDriver {
  return {
    metadata: { name: 'disk.csi', uid: 'uid-disk.csi', resourceVersion: version },
    spec: { storageCapacity },
  };
}
