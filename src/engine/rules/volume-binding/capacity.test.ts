import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { CSIDriver, CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { labels } from '../../../kube/well-known.ts';
import { stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  byName,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  hostname,
  inlineVolume,
  node,
  pod,
  pool,
  storageCapacity,
  zone,
} from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';
import { plan } from '../../testing/whole-engine.ts';

const noSpace: PlanOutcome = {
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

function from(poolName: string): PlanOutcome {
  return { node: 'n1', volumes: {}, pools: { data: poolName } };
}

const unchecked = from('new');
const onNode = { matchLabels: { [hostname]: 'n1' } };

/** A claim of 5Gi whose class has the provisioner `disk.csi`; one node, in zone a. The same with both profiles. */
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
    StorageClass: [csiClass('disk.csi', 'local'), csiClass('disk.csi', 'other')],
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

describe('a node has enough capacity', () => {
  expectBoth([
    {
      name: 'from storage that every node reaches: an empty selector',
      capacities: [storageCapacity('net', 'local', { capacity: '10Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'from its own storage',
      capacities: [storageCapacity('here', 'local', { capacity: '10Gi', nodeTopology: onNode })],
      expected: from('storage/here'),
    },
    {
      name: 'from any of several',
      capacities: [
        storageCapacity('a', 'other', { capacity: '10Gi' }),
        storageCapacity('b', 'local', { capacity: '1Gi' }),
        storageCapacity('c', 'local', { capacity: '10Gi', nodeTopology: { matchLabels: { [zone]: 'b' } } }),
        storageCapacity('d', 'local', { capacity: '10Gi', nodeTopology: onNode }),
      ],
      expected: from('storage/d'),
    },
    {
      name: 'for exactly what is left',
      capacities: [storageCapacity('net', 'local', { capacity: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'for a volume of the maximum size',
      capacities: [storageCapacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'if only the maximum volume size is published',
      capacities: [storageCapacity('net', 'local', { maximumVolumeSize: '5Gi' })],
      expected: from('storage/net'),
    },
    {
      name: 'by a selector with expressions',
      capacities: [
        storageCapacity('net', 'local', {
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

describe('a node does not have enough capacity', () => {
  expectBoth([
    { name: 'if nothing is published', capacities: [], expected: noSpace },
    {
      name: 'if only capacity of another node is published',
      capacities: [
        storageCapacity('there', 'local', {
          capacity: '10Gi',
          nodeTopology: { matchLabels: { [hostname]: 'n2' } },
        }),
      ],
      expected: noSpace,
    },
    {
      name: 'if the published capacity has no selector, not even an empty one',
      capacities: [
        { ...storageCapacity('lost', 'local', { capacity: '10Gi' }), nodeTopology: null as never },
      ],
      expected: noSpace,
    },
    {
      name: 'if the selector is malformed',
      capacities: [
        storageCapacity('bad', 'local', {
          capacity: '10Gi',
          nodeTopology: { matchExpressions: [{ key: zone, operator: 'Gt' as 'In', values: ['1'] }] },
        }),
      ],
      expected: noSpace,
    },
    {
      name: 'if only capacity of another class is published',
      capacities: [storageCapacity('net', 'other', { capacity: '10Gi' })],
      expected: noSpace,
    },
    {
      name: 'if less is left than requested',
      capacities: [storageCapacity('net', 'local', { capacity: '4Gi' })],
      expected: noSpace,
    },
    {
      name: 'if enough is left but the maximum volume size is smaller',
      capacities: [storageCapacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '4Gi' })],
      expected: noSpace,
    },
    {
      name: 'if zero is left',
      capacities: [storageCapacity('net', 'local', { capacity: '0' })],
      expected: noSpace,
    },
    {
      name: 'if the maximum volume size is zero',
      capacities: [storageCapacity('net', 'local', { capacity: '10Gi', maximumVolumeSize: '0' })],
      expected: noSpace,
    },
    { name: 'if no size is published', capacities: [storageCapacity('net', 'local')], expected: noSpace },
    {
      name: 'if the size is malformed',
      capacities: [storageCapacity('net', 'local', { capacity: 'plenty' })],
      expected: noSpace,
    },
    {
      name: 'if a byte is missing',
      capacities: [storageCapacity('net', 'local', { capacity: '5368709119' })],
      expected: noSpace,
    },
  ]);
});

describe('capacity is not checked', () => {
  const full = [storageCapacity('net', 'local', { capacity: '0' })];
  expectBoth([
    { name: 'if the driver has no CSIDriver object', capacities: full, driver: null, expected: unchecked },
    {
      name: 'if another driver tracks capacity',
      capacities: full,
      driver: csiDriver('another.csi'),
      expected: unchecked,
    },
    {
      name: 'if the driver does not say whether it tracks capacity',
      capacities: full,
      driver: csiDriver('disk.csi', {}),
      expected: unchecked,
    },
    {
      name: 'if the driver says that it does not track capacity',
      capacities: full,
      driver: csiDriver('disk.csi', { storageCapacity: false }),
      expected: unchecked,
    },
    {
      name: 'for a claim without a size',
      capacities: full,
      claim: claim('data', '', { spec: { resources: {} } }),
      expected: unchecked,
    },
  ]);
});

describe('the rule follows the published capacity reports', () => {
  const full = {
    name: '',
    capacities: [storageCapacity('net', 'local', { capacity: '4Gi' })],
    expected: noSpace,
  };

  test('as they grow and shrink', () => {
    const index = clusterOf(clusterWith(full));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: '5Gi', version: '2' }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(from('storage/net'));
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: '3Gi', version: '3' }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.remove('CSIStorageCapacity', 'storage/net');
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
  });

  test('of the newest version: a late older version changes nothing', () => {
    const index = clusterOf(clusterWith(full));
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: '5Gi', version: '11' }));
    const late = index.upsert(
      'CSIStorageCapacity',
      storageCapacity('net', 'local', { capacity: '1Gi', version: '9' }),
    );
    expect(late.change).toBeUndefined();
    expect(planOutcome(index, pod('p', ['data']))).toEqual(from('storage/net'));
  });

  test('as the driver starts and stops tracking', () => {
    const index = clusterOf(clusterWith({ ...full, driver: csiDriver('disk.csi', {}) }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unchecked);
    index.upsert('CSIDriver', tracking('2', true));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noSpace);
    index.upsert('CSIDriver', tracking('3', false));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unchecked);
  });

  test('of the driver that the class names only', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [csiClass('other.csi', 'local')],
      CSIDriver: [csiDriver('disk.csi')],
      CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '1Gi' })],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(unchecked);
  });
});

describe('a driver that publishes both forms', () => {
  const objects: ClusterObjects = {
    Node: [node('n1')],
    StorageClass: [csiClass('disk.csi', 'local')],
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: [storageCapacity('native', 'local', { capacity: '3Gi' })],
    DriverCapacity: [
      driverCapacity('disk.csi', [{ storageClassName: 'local', pools: [pool('own', '4Gi')] }]),
    ],
  };
  const asking = (size: string): ClusterObjects => ({
    ...objects,
    PersistentVolumeClaim: [claim('data', size)],
  });

  test('has one of them counted, by the profile', () => {
    expect(planOutcome(clusterOf(asking('2Gi')), pod('p', ['data']))).toEqual(from('own'));
    const native = { ...stowageProfile, poolForms: ['CSIStorageCapacity' as const] };
    expect(planOutcome(clusterOf(asking('2Gi'), native), pod('p', ['data']))).toEqual(from('storage/native'));
    expect(planOutcome(clusterOf(asking('4Gi'), native), pod('p', ['data']))).toEqual(noSpace);
  });

  test.each([
    [['CSIStorageCapacity'] as const, 'any size fits: no pool counts'],
    [['CSIStorageCapacity', 'DriverCapacity'] as const, 'the pool for inline volumes counts'],
  ])('has sized inline volumes checked by its DriverCapacity only; with the forms %s %s', (poolForms, _) => {
    const ephemeral = [{ storageClassName: '<ephemeral>', pools: [pool('ram', '4Gi')] }];
    const cluster = { ...objects, DriverCapacity: [driverCapacity('disk.csi', ephemeral)] };
    const index = clusterOf(cluster, { ...stowageProfile, poolForms });
    const fits = (size: string) =>
      plan(pod('p', [], { volumes: [inlineVolume('v', 'disk.csi', size)] }), index, { nowMs: 0 }).kind;
    expect(fits('4Gi')).toBe('placement');
    expect(fits('5Gi')).toBe(poolForms.length === 1 ? 'placement' : 'refusal');
  });

  test('never has their sum counted', () => {
    const index = clusterOf({
      ...asking('3Gi'),
      PersistentVolumeClaim: [claim('a', '3Gi'), claim('b', '3Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(noSpace);
  });

  test('has its DriverCapacity ignored by kube-scheduler, with or without a CSIDriver', () => {
    expect(planOutcome(clusterOf(asking('3Gi'), upstreamProfile), pod('p', ['data']))).toEqual(
      from('storage/native'),
    );
    const withoutDriver = { ...asking('9Gi'), CSIDriver: [] };
    expect(planOutcome(clusterOf(withoutDriver, upstreamProfile), pod('p', ['data']))).toEqual(unchecked);
  });
});

describe('capacity objects with the same backing label draw on the same disks', () => {
  const backed = (name: string, className: string, size: string, largest?: string): CSIStorageCapacity => ({
    ...storageCapacity(name, className, { capacity: size, ...(largest && { maximumVolumeSize: largest }) }),
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
    StorageClass: [csiClass('disk.csi', 'local'), csiClass('disk.csi', 'other')],
    CSIDriver: [csiDriver('disk.csi')],
  };

  test('so that two classes cannot both use them up', () => {
    const claims = [claim('a', '6Gi'), claim('b', '6Gi', { className: 'other' })];
    const apart = [
      storageCapacity('one', 'local', { capacity: '10Gi' }),
      storageCapacity('two', 'other', { capacity: '10Gi' }),
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

  test('and of two for one class, the one with enough capacity is reserved', () => {
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
