import { describe } from 'vitest';
import { labels } from '../../kube/well-known.ts';
import type { ClusterObjects } from '../testing/cluster.ts';
import { removed, upserted } from '../testing/index-events.ts';
import {
  atVersion,
  boundClaim,
  claim,
  claimRefTo,
  csiClass,
  csiDriver,
  ephemeralVolume,
  hostname,
  localVolume,
  node,
  ownedBy,
  pod,
  storageClass,
  volume,
  zone,
} from '../testing/objects.ts';
import { expectWakeCases } from '../testing/wake-cases.ts';

/** A claim of 5Gi without a matching volume, of a class without a provisioner. */
const noVolume: ClusterObjects = {
  StorageClass: [storageClass('local'), storageClass('other')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

describe('a PersistentVolume', () => {
  const small = volume('v1', '4Gi');
  expectWakeCases([
    {
      name: 'of the class and size wakes the pod',
      cluster: noVolume,
      event: upserted('PersistentVolume', volume('v1', '5Gi')),
      wakes: true,
    },
    {
      name: 'of another class does not',
      cluster: noVolume,
      event: upserted('PersistentVolume', volume('v1', '5Gi', { className: 'other' })),
      wakes: false,
    },
    {
      name: 'that is too small does not',
      cluster: noVolume,
      event: upserted('PersistentVolume', small),
      wakes: false,
    },
    {
      name: 'that is not available yet does not',
      cluster: noVolume,
      event: upserted('PersistentVolume', volume('v1', '5Gi', { phase: 'Pending' })),
      wakes: false,
    },
    {
      name: 'that becomes available does',
      cluster: { ...noVolume, PersistentVolume: [volume('v1', '5Gi', { phase: 'Pending' })] },
      event: upserted('PersistentVolume', volume('v1', '5Gi', { version: '2' })),
      wakes: true,
    },
    {
      name: 'that grows does',
      cluster: { ...noVolume, PersistentVolume: [small] },
      event: upserted('PersistentVolume', volume('v1', '6Gi', { version: '2' })),
      wakes: true,
    },
    {
      name: 'that is being deleted does not',
      cluster: noVolume,
      event: upserted(
        'PersistentVolume',
        volume('v1', '5Gi', {
          metadata: { name: 'v1', uid: 'u', resourceVersion: '1', deletionTimestamp: '2026-01-01T00:00:00Z' },
        }),
      ),
      wakes: false,
    },
    {
      name: 'of any class that is reserved for the claim does',
      cluster: noVolume,
      event: upserted(
        'PersistentVolume',
        volume('v1', '5Gi', { className: 'other', spec: claimRefTo('data') }),
      ),
      wakes: true,
    },
    {
      name: 'that is reserved for another claim does not',
      cluster: noVolume,
      event: upserted('PersistentVolume', volume('v1', '5Gi', { spec: claimRefTo('theirs') })),
      wakes: false,
    },
    {
      name: 'that goes away does not',
      cluster: { ...noVolume, PersistentVolume: [small] },
      event: removed('PersistentVolume', 'v1'),
      wakes: false,
    },
    {
      name: 'that the pod is bound to and was missing does',
      cluster: { PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')] },
      event: upserted('PersistentVolume', volume('v1', '5Gi', { phase: 'Bound' })),
      wakes: true,
    },
    {
      name: 'that the pod is bound to and that moves does',
      cluster: {
        PersistentVolume: [localVolume('v1', '5Gi', 'n2', { phase: 'Bound' })],
        PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')],
      },
      event: upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', { phase: 'Bound', version: '2' })),
      wakes: true,
    },
    {
      name: 'of another claim does not wake a pod whose volume is elsewhere',
      cluster: {
        PersistentVolume: [localVolume('v1', '5Gi', 'n2', { phase: 'Bound' })],
        PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')],
      },
      event: upserted('PersistentVolume', volume('v9', '5Gi')),
      wakes: false,
    },
    {
      name: 'that was reserved for the claim elsewhere and goes away does: now any other volume is allowed',
      cluster: {
        ...noVolume,
        PersistentVolume: [
          localVolume('mine', '5Gi', 'n2', { spec: claimRefTo('data') }),
          volume('free', '5Gi'),
        ],
      },
      event: removed('PersistentVolume', 'mine'),
      wakes: true,
    },
    {
      name: 'that was reserved for the claim elsewhere and is released does, too',
      cluster: {
        ...noVolume,
        PersistentVolume: [
          localVolume('mine', '5Gi', 'n2', { spec: claimRefTo('data') }),
          volume('free', '5Gi'),
        ],
      },
      event: upserted('PersistentVolume', localVolume('mine', '5Gi', 'n2', { version: '2' })),
      wakes: true,
    },
    {
      name: 'whose zone labels were wrong and are corrected does',
      cluster: {
        Node: [node('n1', { [zone]: 'a' })],
        PersistentVolume: [zoned('1', 'b')],
        PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')],
      },
      event: upserted('PersistentVolume', zoned('2', 'a')),
      wakes: true,
    },
    {
      name: 'whose zone labels are wrong and stay so does not',
      cluster: {
        Node: [node('n1', { [zone]: 'a' })],
        PersistentVolume: [zoned('1', 'b')],
        PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')],
      },
      event: upserted('PersistentVolume', zoned('2', 'b')),
      wakes: false,
    },
  ]);
});

describe('a PersistentVolumeClaim', () => {
  expectWakeCases([
    {
      name: 'that was missing wakes the pod',
      cluster: { StorageClass: [csiClass('disk.csi', 'local')] },
      event: upserted('PersistentVolumeClaim', claim('data', '5Gi')),
      wakes: true,
    },
    {
      name: 'of an ephemeral volume that was missing does',
      cluster: { StorageClass: [csiClass('disk.csi', 'local')] },
      pod: pod('p', [], { volumes: [ephemeralVolume('s')] }),
      event: upserted('PersistentVolumeClaim', claim('p-s', '5Gi', { metadata: ownedBy('p', 'p-s') })),
      wakes: true,
    },
    {
      name: 'that becomes bound does',
      cluster: {
        PersistentVolume: [volume('v1', '5Gi', { phase: 'Bound' })],
        PersistentVolumeClaim: [claim('data', '5Gi', { className: '' })],
      },
      event: upserted('PersistentVolumeClaim', atVersion('2', boundClaim('data', '5Gi', 'v1'))),
      wakes: true,
    },
    {
      name: 'whose selected node is taken away does',
      cluster: {
        StorageClass: [csiClass('disk.csi', 'local')],
        PersistentVolumeClaim: [claim('data', '5Gi', { selectedNode: 'gone' })],
      },
      event: upserted('PersistentVolumeClaim', claim('data', '5Gi', { version: '2' })),
      wakes: true,
    },
    {
      name: 'of another name does not',
      cluster: {},
      event: upserted('PersistentVolumeClaim', claim('other', '5Gi')),
      wakes: false,
    },
    {
      name: 'of the same name in another namespace does not',
      cluster: {},
      event: upserted(
        'PersistentVolumeClaim',
        claim('data', '5Gi', {
          metadata: { namespace: 'team', name: 'data', uid: 'u', resourceVersion: '1' },
        }),
      ),
      wakes: false,
    },
    {
      name: 'that goes away does not',
      cluster: noVolume,
      event: removed('PersistentVolumeClaim', 'default/data'),
      wakes: false,
    },
    {
      name: 'whose same version is applied again does not',
      cluster: noVolume,
      event: upserted('PersistentVolumeClaim', claim('data', '5Gi')),
      wakes: false,
    },
  ]);
});

describe('a StorageClass', () => {
  const allowed = (value: string) => [{ matchLabelExpressions: [{ key: zone, values: [value] }] }];
  const restricted: ClusterObjects = {
    Node: [node('n1', { [zone]: 'a' })],
    StorageClass: [csiClass('disk.csi', 'local', { allowedTopologies: allowed('b') })],
    PersistentVolumeClaim: [claim('data', '5Gi')],
  };
  expectWakeCases([
    {
      name: 'that waits for the first consumer and was missing wakes the pod',
      cluster: { PersistentVolumeClaim: [claim('data', '5Gi')] },
      event: upserted('StorageClass', csiClass('disk.csi', 'local')),
      wakes: true,
    },
    {
      name: 'of another name does not',
      cluster: { PersistentVolumeClaim: [claim('data', '5Gi')] },
      event: upserted('StorageClass', csiClass('disk.csi', 'other')),
      wakes: false,
    },
    {
      name: 'whose allowed topologies change does',
      cluster: restricted,
      event: upserted(
        'StorageClass',
        atVersion('2', csiClass('disk.csi', 'local', { allowedTopologies: allowed('a') })),
      ),
      wakes: true,
    },
    {
      name: 'of which only parameters change does not',
      cluster: restricted,
      event: upserted(
        'StorageClass',
        atVersion(
          '2',
          csiClass('disk.csi', 'local', { allowedTopologies: allowed('b'), parameters: { a: 'b' } }),
        ),
      ),
      wakes: false,
    },
    {
      name: 'that gets a provisioner does',
      cluster: noVolume,
      event: upserted('StorageClass', atVersion('2', csiClass('disk.csi', 'local'))),
      wakes: true,
    },
    {
      name: 'recreated for a driver that publishes no capacity does',
      cluster: {
        StorageClass: [csiClass('disk.csi', 'local')],
        CSIDriver: [csiDriver('disk.csi')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
      },
      event: upserted('StorageClass', atVersion('2', csiClass('other.csi', 'local'))),
      wakes: true,
    },
    {
      name: 'that goes away does not',
      cluster: noVolume,
      event: removed('StorageClass', 'local'),
      wakes: false,
    },
  ]);
});

describe('a Node', () => {
  const elsewhere: ClusterObjects = { ...noVolume, PersistentVolume: [localVolume('v1', '5Gi', 'n2')] };
  expectWakeCases([
    {
      name: 'that joins wakes the pod',
      cluster: elsewhere,
      event: upserted('Node', node('n2')),
      wakes: true,
    },
    {
      name: 'that joins an empty cluster does, too',
      cluster: { ...elsewhere, Node: [] },
      event: upserted('Node', node('n2')),
      wakes: true,
    },
    {
      name: 'whose labels change does',
      cluster: elsewhere,
      event: upserted('Node', atVersion('2', node('n1', { [hostname]: 'n2' }))),
      wakes: true,
    },
    {
      name: 'with other changes does not',
      cluster: elsewhere,
      event: upserted('Node', { ...atVersion('2', node('n1')), status: { conditions: [] } }),
      wakes: false,
    },
    { name: 'that goes away does not', cluster: elsewhere, event: removed('Node', 'n1'), wakes: false },
  ]);
});

function zoned(version: string, value: string) {
  return volume('v1', '5Gi', {
    phase: 'Bound',
    metadata: { name: 'v1', uid: 'u', resourceVersion: version, labels: { [labels.zone]: value } },
  });
}
