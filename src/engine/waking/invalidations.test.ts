import { describe, expect, test } from 'vitest';
import { labels } from '../../kube/well-known.ts';
import { readPod } from '../records/pod-record.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { type IndexEvent, removed, upserted } from '../testing/index-events.ts';
import {
  attachment,
  atVersion,
  boundClaim,
  byName,
  claim,
  claimRefTo,
  csiClass,
  csiDriver,
  csiNode,
  driverCapacity,
  localVolume,
  node,
  pod,
  pool,
  storageCapacity,
  volume,
} from '../testing/objects.ts';
import { interestOf } from './interest.ts';

/** An event, and whether it invalidates a cached answer for the pod. */
interface Case {
  readonly name: string;
  readonly happens: IndexEvent;
  readonly invalidates: boolean;
}

const driver = 'disk.csi';

/** A pod with a bound claim and one that waits for a volume of class `local`, of 5Gi. */
const asking = pod('p', ['old', 'data']);
const cluster: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [csiClass(driver, 'local'), csiClass('other.csi', 'other')],
  CSIDriver: [csiDriver(driver), csiDriver('other.csi')],
  CSINode: [csiNode('n1', { [driver]: 5 })],
  PersistentVolume: [
    volume('v-old', '1Gi', { phase: 'Bound', className: 'other' }),
    localVolume('v-free', '5Gi', 'n1'),
    localVolume('v-other', '5Gi', 'n1', { className: 'other' }),
    volume('v-second', '5Gi', { spec: { csi: { driver: 'second.csi', volumeHandle: 'h' } } }),
  ],
  CSIStorageCapacity: [
    storageCapacity('mine', 'local', { capacity: '9Gi' }),
    storageCapacity('theirs', 'other', { capacity: '9Gi' }),
  ],
  DriverCapacity: [driverCapacity(driver, [{ storageClassName: 'local', pools: [pool('one', '9Gi')] }])],
  VolumeAttachment: [attachment('x', 'n1', driver, 'v-old'), attachment('z', 'n1', 'third.csi', 'v9')],
  PersistentVolumeClaim: [
    boundClaim('old', '1Gi', 'v-old', { className: 'other' }),
    claim('data', '5Gi'),
    claim('theirs', '5Gi', { className: 'other' }),
    claim('rival', '5Gi', { selectedNode: 'n1' }),
  ],
  Pod: [pod('running', ['theirs'], { nodeName: 'n1' }), pod('idle', [], { nodeName: 'n1' })],
};

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { happens, invalidates }) => {
    const index = clusterOf(cluster);
    const interest = interestOf(index, readPod(asking));
    const change = happens(index);
    if (change === undefined) return expect.fail('nothing changed');
    expect(volumeRules.some((rule) => rule.invalidates(interest, change, index))).toBe(invalidates);
    // A change that could make a refused pod fit also invalidates a cached refusal.
    for (const rule of volumeRules) {
      if (rule.wakes(interest, change, index)) expect(rule.invalidates(interest, change, index)).toBe(true);
    }
  });
}

describe('a PersistentVolumeClaim invalidates a cached answer', () => {
  expectCases([
    {
      name: 'when it is the claim of the pod and changes',
      happens: upserted('PersistentVolumeClaim', claim('data', '6Gi', { version: '2' })),
      invalidates: true,
    },
    {
      name: 'when it is the claim of the pod and is bound',
      happens: upserted('PersistentVolumeClaim', atVersion('2', boundClaim('data', '5Gi', 'v-free'))),
      invalidates: true,
    },
    {
      name: 'when it is the claim of the pod and is deleted',
      happens: removed('PersistentVolumeClaim', 'default/data'),
      invalidates: true,
    },
    {
      name: 'when it competes for the same pools and releases its capacity',
      happens: upserted('PersistentVolumeClaim', claim('rival', '5Gi', { version: '2' })),
      invalidates: true,
    },
    {
      name: 'when it competes for the same pools and takes capacity',
      happens: upserted('PersistentVolumeClaim', claim('late', '5Gi', { selectedNode: 'n1' })),
      invalidates: true,
    },
    {
      name: 'when it is new: a pod on a node may use it, and count for its driver',
      happens: upserted('PersistentVolumeClaim', claim('new', '5Gi', { className: 'third' })),
      invalidates: true,
    },
  ]);
});

describe('a PersistentVolume invalidates a cached answer', () => {
  expectCases([
    {
      name: 'when one of the class comes',
      happens: upserted('PersistentVolume', volume('v9', '5Gi')),
      invalidates: true,
    },
    { name: 'when one of the class goes', happens: removed('PersistentVolume', 'v-free'), invalidates: true },
    {
      name: 'when one of the class changes',
      happens: upserted('PersistentVolume', localVolume('v-free', '5Gi', 'n2', { version: '2' })),
      invalidates: true,
    },
    {
      name: 'when one of the class is taken by another claim',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-free', '5Gi', 'n1', {
          version: '2',
          phase: 'Bound',
          spec: claimRefTo('theirs', 'u'),
        }),
      ),
      invalidates: true,
    },
    {
      name: 'when one leaves the class',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-free', '5Gi', 'n1', { version: '2', className: 'third' }),
      ),
      invalidates: true,
    },
    {
      name: 'when the one that the pod has changes',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-old', '1Gi', 'n2', { version: '2', phase: 'Bound' }),
      ),
      invalidates: true,
    },
    {
      name: 'when the one that the pod has goes',
      happens: removed('PersistentVolume', 'v-old'),
      invalidates: true,
    },
    {
      name: 'when one of any class is reserved for the claim of the pod',
      happens: upserted(
        'PersistentVolume',
        volume('v9', '5Gi', { className: 'third', spec: claimRefTo('data') }),
      ),
      invalidates: true,
    },
    {
      name: 'when one of another class comes: a pod on a node may use it and attach it',
      happens: upserted('PersistentVolume', volume('v9', '5Gi', { className: 'third' })),
      invalidates: true,
    },
    {
      name: 'when one of another class goes: it is attached nowhere any more',
      happens: removed('PersistentVolume', 'v-other'),
      invalidates: true,
    },
  ]);
});

describe('a StorageClass invalidates a cached answer', () => {
  expectCases([
    {
      name: 'when it is the class of a waiting claim and goes',
      happens: removed('StorageClass', 'local'),
      invalidates: true,
    },
    {
      name: 'when it is the class of a waiting claim and changes',
      happens: upserted(
        'StorageClass',
        atVersion('2', csiClass(driver, 'local', { volumeBindingMode: 'Immediate' })),
      ),
      invalidates: true,
    },
    {
      name: 'not when no claim of the pod waits for it',
      happens: upserted('StorageClass', csiClass('unrelated.csi', 'third')),
      invalidates: false,
    },
  ]);
});

describe('a Node invalidates a cached answer', () => {
  expectCases([
    { name: 'when it comes', happens: upserted('Node', node('n2')), invalidates: true },
    { name: 'when it goes', happens: removed('Node', 'n1'), invalidates: true },
    {
      name: 'when its labels change',
      happens: upserted('Node', atVersion('2', node('n1', { [labels.zone]: 'a' }))),
      invalidates: true,
    },
  ]);
});

describe('capacity invalidates a cached answer', () => {
  expectCases([
    {
      name: 'when that of the class shrinks',
      happens: upserted(
        'CSIStorageCapacity',
        storageCapacity('mine', 'local', { capacity: '1Gi', version: '2' }),
      ),
      invalidates: true,
    },
    {
      name: 'when that of the class goes',
      happens: removed('CSIStorageCapacity', 'storage/mine'),
      invalidates: true,
    },
    {
      name: 'not when that of another class changes',
      happens: upserted(
        'CSIStorageCapacity',
        storageCapacity('theirs', 'other', { capacity: '1Gi', version: '2' }),
      ),
      invalidates: false,
    },
    { name: 'when that of the driver goes', happens: removed('DriverCapacity', driver), invalidates: true },
    {
      name: 'when that of the driver changes',
      happens: upserted('DriverCapacity', driverCapacity(driver, [], '2')),
      invalidates: true,
    },
    {
      name: 'not when another driver publishes',
      happens: upserted('DriverCapacity', driverCapacity('third.csi', [])),
      invalidates: false,
    },
    {
      name: 'when the driver changes',
      happens: upserted('CSIDriver', atVersion('2', csiDriver(driver, {}))),
      invalidates: true,
    },
    {
      name: 'not when another driver comes',
      happens: upserted('CSIDriver', csiDriver('third.csi')),
      invalidates: false,
    },
  ]);
});

describe('attachments invalidate a cached answer', () => {
  expectCases([
    { name: 'when one of the driver goes', happens: removed('VolumeAttachment', 'x'), invalidates: true },
    {
      name: 'when one of the driver comes',
      happens: upserted('VolumeAttachment', attachment('y', 'n1', driver, 'v-free')),
      invalidates: true,
    },
    {
      name: 'when one of a driver with a volume of the class comes: the claim might get that volume',
      happens: upserted('VolumeAttachment', attachment('y', 'n1', 'second.csi', 'v9')),
      invalidates: true,
    },
    {
      name: 'when one of any driver goes: it counts for the driver of its volume',
      happens: removed('VolumeAttachment', 'z'),
      invalidates: true,
    },
    {
      name: 'when a limit changes',
      happens: upserted('CSINode', atVersion('2', csiNode('n1', { [driver]: 1 }))),
      invalidates: true,
    },
    { name: 'when a pod with volumes goes', happens: removed('Pod', 'default/running'), invalidates: true },
    {
      name: 'when a pod with volumes comes',
      happens: upserted('Pod', pod('next', ['theirs'], { nodeName: 'n1' })),
      invalidates: true,
    },
    {
      name: 'not when a pod without volumes goes',
      happens: removed('Pod', 'default/idle'),
      invalidates: false,
    },
  ]);
});
