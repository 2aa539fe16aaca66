import { describe, expect, test } from 'vitest';
import { stowageProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import { candidatesIn, findingsOf, gibIn, withoutVolumes } from '../testing/findings.ts';
import {
  claim,
  csiClass,
  csiDriver,
  csiNode,
  driverCapacity,
  pod,
  pool,
  storageCapacity,
  volume,
  zone,
} from '../testing/objects.ts';

describe('a claim without enough capacity has the missing amount', () => {
  const dynamic: ClusterObjects = {
    ...withoutVolumes,
    StorageClass: [csiClass('disk.csi', 'local')],
    CSIDriver: [csiDriver('disk.csi')],
  };

  test('with the free bytes and how many of them are promised', () => {
    const [finding] = findingsOf({
      ...dynamic,
      CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '8Gi' })],
      PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '6Gi', { selectedNode: 'n1' })],
    });
    expect(finding).toMatchObject({ reason: 'NotEnoughCapacity', claim: 'default/data' });
    expect(candidatesIn(finding!)).toEqual(['storage/net: InsufficientCapacity']);
    expect(gibIn(finding!.margin!)).toEqual([5, 8, 6]);
  });

  test('with every pool that the node reaches, the most free capacity first', () => {
    const pools = [
      storageCapacity('two', 'local', { capacity: '2Gi' }),
      storageCapacity('four', 'local', { capacity: '4Gi' }),
      storageCapacity('capped', 'local', { capacity: '9Gi', maximumVolumeSize: '3Gi' }),
      storageCapacity('away', 'local', { capacity: '4Gi', nodeTopology: { matchLabels: { [zone]: 'b' } } }),
    ];
    const [finding] = findingsOf({ ...dynamic, CSIStorageCapacity: pools });
    expect(candidatesIn(finding!)).toEqual([
      'storage/capped: VolumeTooLarge',
      'storage/four: VolumeTooLarge InsufficientCapacity',
      'storage/two: VolumeTooLarge InsufficientCapacity',
    ]);
    expect(gibIn(finding!.candidates[0]!.obstacles[0]!.margin!)).toEqual([5, 3, 0]);
  });

  test('with a pool whose capacity reports have expired', () => {
    const objects: ClusterObjects = {
      ...dynamic,
      CSIDriver: [],
      DriverCapacity: [
        driverCapacity('disk.csi', [
          { storageClassName: 'local', pools: [pool('one', '9Gi', { expiryTime: '2026-01-01T00:00:00Z' })] },
        ]),
      ],
    };
    const [finding] = findingsOf(objects, undefined, Date.parse('2026-01-02T00:00:00Z'));
    expect(candidatesIn(finding!)).toEqual(['one: Expired']);
  });

  test('with a busy pool whose driver creates one volume at a time', () => {
    const index = clusterOf(
      {
        ...dynamic,
        CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '80Gi' })],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '6Gi', { selectedNode: 'n1' })],
      },
      { ...stowageProfile, inFlight: 'one-at-a-time' },
    );
    const [finding] = expectRefusal(index, pod('p', ['data'])).explain().nodes[0]!.findings;
    expect(candidatesIn(finding!)).toEqual(['storage/net: Busy']);
  });

  test('without candidates if the node reaches no pool', () => {
    const [finding] = findingsOf(dynamic);
    expect(finding).toMatchObject({ reason: 'NotEnoughCapacity', candidates: [], margin: undefined });
  });
});

describe('claims that could each be served alone, but not together, compete', () => {
  const two = pod('p', ['a', 'b']);

  test('for volumes', () => {
    const findings = findingsOf(
      {
        ...withoutVolumes,
        PersistentVolume: [volume('v1', '5Gi')],
        PersistentVolumeClaim: [claim('a', '5Gi'), claim('b', '4Gi')],
      },
      two,
    );
    expect(findings.map(({ reason, claim: key }) => `${key}: ${reason}`)).toEqual([
      'default/a: VolumesNotTogether',
      'default/b: VolumesNotTogether',
    ]);
    expect(candidatesIn(findings[0]!)).toEqual(['v1: TakenBySibling']);
  });

  test('for capacity of a pool', () => {
    const findings = findingsOf(
      {
        ...withoutVolumes,
        StorageClass: [csiClass('disk.csi', 'local')],
        CSIDriver: [csiDriver('disk.csi')],
        CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '8Gi' })],
        PersistentVolumeClaim: [claim('a', '5Gi'), claim('b', '4Gi')],
      },
      two,
    );
    expect(findings.map(({ reason }) => reason)).toEqual(['CapacityNotTogether', 'CapacityNotTogether']);
  });

  test('for attach slots, with the numbers', () => {
    const csi = (name: string) => volume(name, '5Gi', { spec: { csi: { driver: 'd', volumeHandle: name } } });
    const findings = findingsOf(
      {
        ...withoutVolumes,
        CSINode: [csiNode('n1', { d: 1 })],
        PersistentVolume: [csi('v1'), csi('v2')],
        PersistentVolumeClaim: [claim('a', '5Gi'), claim('b', '5Gi')],
      },
      two,
    );
    expect(findings).toMatchObject([
      { reason: 'AttachLimitReached', margin: { unit: 'volumes', needed: 2, free: 1 } },
    ]);
  });
});
