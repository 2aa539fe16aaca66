/**
 * Regression cases that the property tests have found, each reduced to a minimal example. The random tests would find the rare ones
 * again only by luck. The oracle gives the expected result.
 */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { annotations, labels as wellKnownLabels } from '../../kube/well-known.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { Ledger } from '../ledger/ledger.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { dumpSettled } from '../testing/index-dump.ts';
import {
  boundClaim,
  claim,
  csiDriver,
  csiNode,
  driverCapacity,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
  volume,
} from '../testing/objects.ts';
import { oracleRefusalMessage, oracleVerdict } from '../testing/oracle/index.ts';

const nowMs = 0;
const local = storageClass('local');
const dyn = storageClass('dyn', { provisioner: 'd1' });
const [n1, n2] = [node('n1'), node('n2')];
const ebs = 'kubernetes.io/aws-ebs';
const servesEbs = { annotations: { [annotations.migratedPlugins]: ebs } };

interface FoundCase {
  readonly name: string;
  readonly profile?: Profile;
  readonly objects: ClusterObjects;
  readonly pod: Pod;
}

const cases: readonly FoundCase[] = [
  {
    name: 'a zone label that lists an empty zone is ignored',
    objects: {
      Node: [node('n1', { [wellKnownLabels.zone]: 'a' })],
      PersistentVolume: [
        volume('v', '1Gi', { metadata: { name: 'v', labels: { [wellKnownLabels.zone]: 'b__' } } }),
      ],
      PersistentVolumeClaim: [boundClaim('c', '1Gi', 'v')],
      StorageClass: [local],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'kube-scheduler looks up bound volumes before it checks nodes',
    profile: upstreamProfile,
    objects: { Node: [n1], PersistentVolumeClaim: [boundClaim('c', '1Gi', 'gone')], StorageClass: [local] },
    pod: pod('p', ['c']),
  },
  {
    name: 'kube-scheduler ignores DriverCapacity',
    profile: upstreamProfile,
    objects: {
      Node: [n1],
      PersistentVolumeClaim: [claim('c', '1Gi', { className: 'dyn' })],
      StorageClass: [dyn],
      DriverCapacity: [driverCapacity('d1', [])],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'kube-scheduler ignores the size of inline volumes',
    profile: upstreamProfile,
    objects: { Node: [n1] },
    pod: pod('p', [], { volumes: [{ name: 'scratch', csi: { driver: 'd1', fsSize: 'lots' } }] }),
  },
  {
    name: 'kube-scheduler checks claims with a selected node in the order of the pod, not by size',
    profile: upstreamProfile,
    objects: {
      Node: [n1],
      PersistentVolumeClaim: [
        claim('large', '10Gi', { selectedNode: 'n1' }),
        claim('small', '1Gi', { className: 'dyn', selectedNode: 'n1' }),
      ],
      StorageClass: [local, dyn],
      CSIDriver: [csiDriver('d1')],
    },
    pod: pod('p', ['large', 'small']),
  },
  {
    name: 'kube-scheduler treats an empty selected node as another node',
    profile: upstreamProfile,
    objects: {
      Node: [n1],
      PersistentVolumeClaim: [claim('c', '1Gi', { className: 'dyn', selectedNode: '' })],
      StorageClass: [dyn],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'a claim with a selected node but without a provisioner makes every assignment impossible',
    objects: {
      Node: [n1],
      PersistentVolume: [volume('v', '1Gi', { className: 'dyn' })],
      PersistentVolumeClaim: [
        claim('pinned', '1Gi', { selectedNode: 'n1' }),
        claim('any', '1Gi', { className: 'dyn', spec: { accessModes: [] } }),
        claim('picky', '1Gi', { className: 'dyn' }),
      ],
      StorageClass: [local, dyn],
    },
    pod: pod('p', ['pinned', 'any', 'picky']),
  },
  {
    name: 'the only volume of a class may be unusable, whichever claim would get it',
    objects: {
      Node: [n1],
      PersistentVolume: [
        volume('v', '9Gi', { className: 'dyn2', spec: { csi: { driver: 'd1', volumeHandle: 'h' } } }),
      ],
      PersistentVolumeClaim: [
        claim('small', '1Gi', { className: 'dyn2' }),
        claim('large', '2Gi', { className: 'dyn2' }),
      ],
      StorageClass: [storageClass('dyn2', { provisioner: 'd2' })],
      CSINode: [csiNode('n1', { d1: 0 })],
    },
    pod: pod('p', ['small', 'large']),
  },
  {
    name: 'two pools of one class on the same disks share their capacity',
    objects: {
      Node: [n1],
      PersistentVolumeClaim: [
        claim('c1', '1Gi', { className: 'dyn' }),
        claim('c2', '1Gi', { className: 'dyn' }),
      ],
      StorageClass: [dyn],
      CSIDriver: [csiDriver('d1')],
      CSIStorageCapacity: [
        storageCapacity('a', 'dyn', { capacity: '2Gi', metadata: onSharedDisks('a') }),
        storageCapacity('b', 'dyn', { metadata: onSharedDisks('b') }),
      ],
    },
    pod: pod('p', ['c1', 'c2']),
  },
  {
    name: 'of two pools of one class on the same disks the cheaper one is chosen',
    objects: {
      Node: [n1],
      PersistentVolumeClaim: [
        claim('c1', '1Gi', { className: 'dyn' }),
        claim('c2', '1Gi', { className: 'dyn' }),
        claim('c3', '1Gi', { className: 'dyn2' }),
      ],
      StorageClass: [dyn, storageClass('dyn2', { provisioner: 'd1' })],
      CSIDriver: [csiDriver('d1')],
      CSIStorageCapacity: [
        storageCapacity('mirrored', 'dyn', { capacity: '1Gi', metadata: onSharedDisks('mirrored') }),
        storageCapacity('striped', 'dyn', { capacity: '3Gi', metadata: onSharedDisks('striped') }),
        storageCapacity('other', 'dyn2', { capacity: '1Gi' }),
      ],
    },
    pod: pod('p', ['c1', 'c2', 'c3']),
  },
  {
    name: 'a driver must be installed on nodes where it serves an in-tree class',
    objects: {
      Node: [n1, n2],
      PersistentVolumeClaim: [claim('c', '1Gi', { className: 'ebs' })],
      StorageClass: [storageClass('ebs', { provisioner: ebs })],
      CSIDriver: [csiDriver('ebs.csi.aws.com', { preventPodSchedulingIfMissing: true })],
      CSINode: [csiNode('n1', {}, servesEbs), csiNode('n2', {})],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'a volume of another source needs no slot of the driver that is full',
    objects: {
      Node: [n1],
      PersistentVolume: [
        volume('disk', '1Gi', { spec: { awsElasticBlockStore: { volumeID: 'vol-1' } } }),
        volume('local', '2Gi'),
      ],
      PersistentVolumeClaim: [claim('c', '1Gi')],
      StorageClass: [local],
      CSINode: [csiNode('n1', { 'ebs.csi.aws.com': 0 }, servesEbs)],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'a larger volume that is attached already needs no slot',
    objects: {
      Node: [n1],
      PersistentVolume: [
        volume('v1', '1Gi', { spec: { csi: { driver: 'd1', volumeHandle: 'h1' } } }),
        volume('v2', '2Gi', { spec: { csi: { driver: 'd1', volumeHandle: 'h2' } } }),
      ],
      PersistentVolumeClaim: [claim('c', '1Gi')],
      StorageClass: [local],
      CSINode: [csiNode('n1', { d1: 1 })],
      VolumeAttachment: [
        {
          metadata: { name: 'va', uid: 'uid-va', resourceVersion: '1' },
          spec: { attacher: 'd1', nodeName: 'n1', source: { persistentVolumeName: 'v2' } },
        },
      ],
    },
    pod: pod('p', ['c']),
  },
  {
    name: 'among equally cheap assignments the first claim decides, not the first volume',
    objects: {
      Node: [n1],
      PersistentVolume: [
        volume('a', '5Gi', { spec: { accessModes: [] } }),
        volume('b', '1Gi'),
        volume('c', '5Gi'),
      ],
      PersistentVolumeClaim: [claim('any', '1Gi', { spec: { accessModes: [] } }), claim('picky', '1Gi')],
      StorageClass: [local],
    },
    pod: pod('p', ['any', 'picky']),
  },
];

describe('found by random clusters', () => {
  test.each(cases)('$name', ({ objects, pod: target, profile = stowageProfile }) => {
    const expected = oracleVerdict(objects, target, profile, nowMs);
    const answer = plan(target, clusterOf(objects, profile), { nowMs });
    if (answer.kind === 'refusal') {
      expect([...expected.feasible.keys()]).toEqual([]);
      if (profile.name === 'upstream') expect(answer.message).toBe(oracleRefusalMessage(objects, expected));
      return;
    }
    expect(answer.feasibleNodes).toBe(expected.feasible.size);
    const volumes = new Map(answer.bindings.map((binding) => [binding.claim, binding.volume]));
    expect(volumes).toEqual(expected.feasible.get(answer.node)?.volumes);
  });
});

describe('found by random histories', () => {
  test('a promise follows every change of its claim', () => {
    const final = claim('c', '2Gi', { className: 'dyn', selectedNode: 'n1', version: '2' });
    const index = new ClusterIndex();
    index.upsert('PersistentVolumeClaim', claim('c', '1Gi', { className: 'dyn', selectedNode: 'n1' }));
    index.upsert('PersistentVolumeClaim', final);
    expect(dumpSettled(index, nowMs)).toEqual(
      dumpSettled(clusterOf({ PersistentVolumeClaim: [final] }), nowMs),
    );
  });

  test('a promise whose pools changed during its reservation is assigned to a pool when the reservation is reverted', () => {
    const objects: ClusterObjects = {
      Node: [n1],
      PersistentVolumeClaim: [claim('c', '1Gi', { className: 'dyn', selectedNode: 'n1' })],
      StorageClass: [dyn],
      CSIDriver: [csiDriver('d1')],
    };
    const index = clusterOf(objects);
    const ledger = new Ledger(index);
    const answer = plan(pod('p', ['c']), index, { nowMs });
    if (answer.kind !== 'placement') return expect.fail(answer.message);
    const reserved = ledger.reserve(answer);
    const pool = storageCapacity('pool', 'dyn', { capacity: '5Gi' });
    index.upsert('CSIStorageCapacity', pool);
    plan(pod('q', []), index, { nowMs });
    if (reserved.kind === 'reserved') ledger.revert(reserved.reservation);
    expect(dumpSettled(index, nowMs)).toEqual(
      dumpSettled(clusterOf({ ...objects, CSIStorageCapacity: [pool] }), nowMs),
    );
  });

  test('a node counts the current version of a held volume', () => {
    const objects: ClusterObjects = {
      Node: [n1],
      PersistentVolume: [volume('v', '1Gi', { spec: { csi: { driver: 'd1', volumeHandle: 'h1' } } })],
      PersistentVolumeClaim: [claim('c', '1Gi')],
      StorageClass: [local],
    };
    const index = clusterOf(objects);
    const answer = plan(pod('p', ['c']), index, { nowMs });
    if (answer.kind !== 'placement') return expect.fail(answer.message);
    new Ledger(index).reserve(answer);
    expect([...index.attachments.attachedOn('n1').get('d1')!.keys()]).toEqual(['h1']);
    const changed = volume('v', '1Gi', { version: '2', spec: { csi: { driver: 'd1', volumeHandle: 'h2' } } });
    index.upsert('PersistentVolume', changed);
    expect([...index.attachments.attachedOn('n1').get('d1')!.keys()]).toEqual(['h2']);
  });

  test('a claim whose held volume was bound to another claim does not hold two volumes', () => {
    const index = clusterOf({
      Node: [n1],
      PersistentVolume: [volume('v1', '1Gi'), volume('v2', '1Gi')],
      PersistentVolumeClaim: [claim('c', '1Gi')],
      StorageClass: [local],
    });
    const ledger = new Ledger(index);
    const first = plan(pod('p', ['c']), index, { nowMs });
    if (first.kind !== 'placement') return expect.fail(first.message);
    ledger.reserve(first);
    const claimRef = { namespace: 'default', name: 'other', uid: 'uid-other' };
    index.upsert('PersistentVolume', volume('v1', '1Gi', { version: '2', spec: { claimRef } }));
    const second = plan(pod('q', ['c']), index, { nowMs });
    if (second.kind === 'placement') ledger.reserve(second);
    const held = ['v1', 'v2'].filter((name) => index.volumes.holderOf(name) === 'default/c');
    expect(held).toEqual([index.volumes.heldFor('default/c')?.key]);
  });

  test('a volume that left a class does not affect refusals of that class', () => {
    const objects: ClusterObjects = {
      Node: [n1],
      PersistentVolume: [volume('v', '1Gi', { version: '2' })],
      PersistentVolumeClaim: [
        claim('c1', '1Gi', { className: 'dyn' }),
        claim('c2', '1Gi', { className: 'dyn', spec: { accessModes: [] } }),
      ],
      StorageClass: [local, dyn],
      CSIDriver: [csiDriver('d1')],
    };
    const index = clusterOf({ ...objects, PersistentVolume: [volume('v', '1Gi', { className: 'dyn' })] });
    index.upsert('PersistentVolume', objects.PersistentVolume![0]!);
    const target = pod('p', ['c1', 'c2']);
    expect(plan(target, index, { nowMs })).toMatchObject({
      message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
    });
  });
});

describe('found by explanations', () => {
  test('under both profiles a free volume does not help a claim whose own volume is on another node', () => {
    const claimRef = { namespace: 'default', name: 'c', uid: 'uid-c' };
    for (const profile of [stowageProfile, upstreamProfile]) {
      const index = clusterOf(
        {
          Node: [n1],
          PersistentVolume: [localVolume('own', '1Gi', 'n2', { spec: { claimRef } }), volume('free', '1Gi')],
          PersistentVolumeClaim: [claim('c', '1Gi')],
          StorageClass: [local],
        },
        profile,
      );
      const answer = plan(pod('p', ['c']), index, { nowMs });
      if (answer.kind !== 'refusal') return expect.fail('nothing fits');
      expect(answer.explain().nodes[0]?.findings).not.toEqual([]);
    }
  });
});

describe('found by hostile data', () => {
  test('an access mode that is not a string is ignored', () => {
    const modes = [{ toString: 1 }] as never;
    const index = clusterOf({
      Node: [n1],
      PersistentVolume: [volume('v', '1Gi', { spec: { accessModes: modes } })],
      PersistentVolumeClaim: [claim('c', '1Gi', { spec: { accessModes: modes } })],
      StorageClass: [local],
    });
    expect(plan(pod('p', ['c']), index, { nowMs }).kind).toBe('refusal');
  });
});

function onSharedDisks(name: string) {
  return {
    namespace: 'storage',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    labels: { [wellKnownLabels.backingPool]: 'disks' },
  };
}
