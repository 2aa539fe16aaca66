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
  capacity,
  claim,
  csiDriver,
  csiNode,
  driverCapacity,
  localVolume,
  madeBy,
  node,
  pod,
  pool,
  reservedFor,
  volume,
} from '../testing/objects.ts';
import { interestOf } from './interest.ts';

/** Something happens; does an answer that was remembered for the pod have to be forgotten? */
interface Case {
  readonly name: string;
  readonly happens: IndexEvent;
  readonly forgets: boolean;
}

const driver = 'disk.csi';

/** A pod with a bound claim and one that waits for a volume of class `local`, of 5Gi. */
const asking = pod('p', ['old', 'data']);
const cluster: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [madeBy(driver, 'local'), madeBy('other.csi', 'other')],
  CSIDriver: [csiDriver(driver), csiDriver('other.csi')],
  CSINode: [csiNode('n1', { [driver]: 5 })],
  PersistentVolume: [
    volume('v-old', '1Gi', { phase: 'Bound', className: 'other' }),
    localVolume('v-free', '5Gi', 'n1'),
    localVolume('v-other', '5Gi', 'n1', { className: 'other' }),
    volume('v-second', '5Gi', { spec: { csi: { driver: 'second.csi', volumeHandle: 'h' } } }),
  ],
  CSIStorageCapacity: [
    capacity('mine', 'local', { capacity: '9Gi' }),
    capacity('theirs', 'other', { capacity: '9Gi' }),
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
  test.each(byName(cases))('%s', (_, { happens, forgets }) => {
    const index = clusterOf(cluster);
    const interest = interestOf(index, readPod(asking));
    const change = happens(index);
    if (change === undefined) return expect.fail('nothing changed');
    expect(volumeRules.some((rule) => rule.invalidates(interest, change, index))).toBe(forgets);
    // What could make a refused pod fit also makes a remembered refusal stale.
    for (const rule of volumeRules) {
      if (rule.wakes(interest, change, index)) expect(rule.invalidates(interest, change, index)).toBe(true);
    }
  });
}

describe('a PersistentVolumeClaim makes a remembered answer stale', () => {
  expectCases([
    {
      name: 'when it is the claim of the pod and changes',
      happens: upserted('PersistentVolumeClaim', claim('data', '6Gi', { version: '2' })),
      forgets: true,
    },
    {
      name: 'when it is the claim of the pod and is bound',
      happens: upserted('PersistentVolumeClaim', atVersion('2', boundClaim('data', '5Gi', 'v-free'))),
      forgets: true,
    },
    {
      name: 'when it is the claim of the pod and is deleted',
      happens: removed('PersistentVolumeClaim', 'default/data'),
      forgets: true,
    },
    {
      name: 'when it is a rival for the same pools that gives its room up',
      happens: upserted('PersistentVolumeClaim', claim('rival', '5Gi', { version: '2' })),
      forgets: true,
    },
    {
      name: 'when it is a rival for the same pools that takes room',
      happens: upserted('PersistentVolumeClaim', claim('late', '5Gi', { selectedNode: 'n1' })),
      forgets: true,
    },
    {
      name: 'when it is new: a pod on a node may have waited for it, and count for its driver',
      happens: upserted('PersistentVolumeClaim', claim('new', '5Gi', { className: 'third' })),
      forgets: true,
    },
  ]);
});

describe('a PersistentVolume makes a remembered answer stale', () => {
  expectCases([
    {
      name: 'when one of the class comes',
      happens: upserted('PersistentVolume', volume('v9', '5Gi')),
      forgets: true,
    },
    { name: 'when one of the class goes', happens: removed('PersistentVolume', 'v-free'), forgets: true },
    {
      name: 'when one of the class changes',
      happens: upserted('PersistentVolume', localVolume('v-free', '5Gi', 'n2', { version: '2' })),
      forgets: true,
    },
    {
      name: 'when one of the class is taken by another claim',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-free', '5Gi', 'n1', {
          version: '2',
          phase: 'Bound',
          spec: reservedFor('theirs', 'u'),
        }),
      ),
      forgets: true,
    },
    {
      name: 'when one leaves the class',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-free', '5Gi', 'n1', { version: '2', className: 'third' }),
      ),
      forgets: true,
    },
    {
      name: 'when the one that the pod has changes',
      happens: upserted(
        'PersistentVolume',
        localVolume('v-old', '1Gi', 'n2', { version: '2', phase: 'Bound' }),
      ),
      forgets: true,
    },
    {
      name: 'when the one that the pod has goes',
      happens: removed('PersistentVolume', 'v-old'),
      forgets: true,
    },
    {
      name: 'when one is reserved for the claim of the pod, of whatever class',
      happens: upserted(
        'PersistentVolume',
        volume('v9', '5Gi', { className: 'third', spec: reservedFor('data') }),
      ),
      forgets: true,
    },
    {
      name: 'when one of another class comes: a pod on a node may have waited for it, and attach it',
      happens: upserted('PersistentVolume', volume('v9', '5Gi', { className: 'third' })),
      forgets: true,
    },
    {
      name: 'when one of another class goes: it is attached nowhere any more',
      happens: removed('PersistentVolume', 'v-other'),
      forgets: true,
    },
  ]);
});

describe('a StorageClass makes a remembered answer stale', () => {
  expectCases([
    {
      name: 'when it is the class of a waiting claim and goes',
      happens: removed('StorageClass', 'local'),
      forgets: true,
    },
    {
      name: 'when it is the class of a waiting claim and changes',
      happens: upserted(
        'StorageClass',
        atVersion('2', madeBy(driver, 'local', { volumeBindingMode: 'Immediate' })),
      ),
      forgets: true,
    },
    {
      name: 'not when no claim of the pod waits for it',
      happens: upserted('StorageClass', madeBy('unrelated.csi', 'third')),
      forgets: false,
    },
  ]);
});

describe('a Node makes a remembered answer stale', () => {
  expectCases([
    { name: 'when it comes', happens: upserted('Node', node('n2')), forgets: true },
    { name: 'when it goes', happens: removed('Node', 'n1'), forgets: true },
    {
      name: 'when its labels change',
      happens: upserted('Node', atVersion('2', node('n1', { [labels.zone]: 'a' }))),
      forgets: true,
    },
  ]);
});

describe('capacity makes a remembered answer stale', () => {
  expectCases([
    {
      name: 'when that of the class shrinks',
      happens: upserted('CSIStorageCapacity', capacity('mine', 'local', { capacity: '1Gi', version: '2' })),
      forgets: true,
    },
    {
      name: 'when that of the class goes',
      happens: removed('CSIStorageCapacity', 'storage/mine'),
      forgets: true,
    },
    {
      name: 'not when that of another class changes',
      happens: upserted('CSIStorageCapacity', capacity('theirs', 'other', { capacity: '1Gi', version: '2' })),
      forgets: false,
    },
    { name: 'when that of the driver goes', happens: removed('DriverCapacity', driver), forgets: true },
    {
      name: 'when that of the driver changes',
      happens: upserted('DriverCapacity', driverCapacity(driver, [], '2')),
      forgets: true,
    },
    {
      name: 'not when another driver publishes',
      happens: upserted('DriverCapacity', driverCapacity('third.csi', [])),
      forgets: false,
    },
    {
      name: 'when the driver changes',
      happens: upserted('CSIDriver', atVersion('2', csiDriver(driver, {}))),
      forgets: true,
    },
    {
      name: 'not when another driver comes',
      happens: upserted('CSIDriver', csiDriver('third.csi')),
      forgets: false,
    },
  ]);
});

describe('attachments make a remembered answer stale', () => {
  expectCases([
    { name: 'when one of the driver goes', happens: removed('VolumeAttachment', 'x'), forgets: true },
    {
      name: 'when one of the driver comes',
      happens: upserted('VolumeAttachment', attachment('y', 'n1', driver, 'v-free')),
      forgets: true,
    },
    {
      name: 'when one comes of a driver that the class has a volume of: the claim might get that one',
      happens: upserted('VolumeAttachment', attachment('y', 'n1', 'second.csi', 'v9')),
      forgets: true,
    },
    {
      name: 'when one of whatever driver goes: it counts for the driver of its volume',
      happens: removed('VolumeAttachment', 'z'),
      forgets: true,
    },
    {
      name: 'when a limit changes',
      happens: upserted('CSINode', atVersion('2', csiNode('n1', { [driver]: 1 }))),
      forgets: true,
    },
    { name: 'when a pod with volumes goes', happens: removed('Pod', 'default/running'), forgets: true },
    {
      name: 'when a pod with volumes comes',
      happens: upserted('Pod', pod('next', ['theirs'], { nodeName: 'n1' })),
      forgets: true,
    },
    { name: 'not when a pod without volumes goes', happens: removed('Pod', 'default/idle'), forgets: false },
  ]);
});
