import { describe, expect, test } from 'vitest';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { nodeReasons, podReasons } from '../rules/reasons.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  csiDriver,
  csiNode,
  hostname,
  labelIn,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
  volume,
  zone,
} from '../testing/objects.ts';
import { expectOutcomes } from '../testing/profile-cases.ts';

function nodes(count: number, labels: Record<string, string> = {}, prefix = 'n') {
  return Array.from({ length: count }, (_, at) => node(`${prefix}${at}`, labels));
}

interface Case {
  readonly name: string;
  readonly cluster: ClusterObjects;
  readonly claims?: readonly string[];
  readonly stowage: string;
  readonly upstream?: string;
}

const local = { StorageClass: [storageClass('local')], PersistentVolumeClaim: [claim('data', '5Gi')] };

const cases: readonly Case[] = [
  {
    name: 'without nodes there is nothing to count',
    cluster: { ...local },
    stowage: 'no nodes available to schedule pods',
  },
  {
    name: 'without nodes a missing claim is not mentioned',
    cluster: {},
    stowage: 'no nodes available to schedule pods',
  },
  {
    name: 'one node',
    cluster: { ...local, Node: nodes(1) },
    stowage: "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
  },
  {
    name: 'many nodes for one reason',
    cluster: { ...local, Node: nodes(120) },
    stowage: "0/120 nodes are available: 120 node(s) didn't find available persistent volumes to bind.",
  },
  {
    name: 'a reason that concerns the pod appears once, without a count',
    cluster: { Node: nodes(3) },
    stowage: '0/3 nodes are available: persistentvolumeclaim "data" not found.',
  },
  {
    name: 'nodes with different reasons are counted separately, and the items are sorted',
    cluster: {
      Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' }), node('n3')],
      StorageClass: [
        csiClass('disk.csi', 'local', {
          allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a', 'b'] }] }],
        }),
      ],
      CSIDriver: [csiDriver('disk.csi')],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    },
    stowage:
      "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 2 node(s) did not have enough free storage.",
  },
  {
    name: 'items are sorted as text: ten before two',
    cluster: {
      Node: [...nodes(10), ...nodes(2, { [zone]: 'a' }, 'z')],
      StorageClass: [
        csiClass('disk.csi', 'local', {
          allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }],
        }),
      ],
      CSIDriver: [csiDriver('disk.csi')],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    },
    stowage:
      "0/12 nodes are available: 10 node(s) didn't find available persistent volumes to bind, 2 node(s) did not have enough free storage.",
  },
  {
    name: 'different reasons with the same text in kube-scheduler are one item',
    cluster: {
      Node: [node('n1'), node('n2', { [zone]: 'a' })],
      StorageClass: [
        csiClass('disk.csi', 'local', {
          allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }],
        }),
        storageClass('none'),
      ],
      PersistentVolume: [localVolume('v1', '5Gi', 'n1', { className: 'none' })],
      PersistentVolumeClaim: [claim('data', '5Gi'), claim('more', '5Gi', { className: 'none' })],
    },
    claims: ['data', 'more'],
    stowage: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
  },
  {
    name: 'a node with two reasons counts for both in kube-scheduler',
    cluster: {
      Node: [node('n1'), node('n2')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', terms: [labelIn(hostname, 'n2')] })],
      PersistentVolumeClaim: [boundClaim('old', '1Gi', 'v1'), claim('data', '5Gi')],
    },
    claims: ['old', 'data'],
    stowage:
      "0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) didn't match PersistentVolume's node affinity.",
    upstream:
      "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 2 node(s) didn't find available persistent volumes to bind.",
  },
  {
    name: 'the first rule that refuses a node gives the reason',
    cluster: {
      Node: [node('n1', { [zone]: 'b' })],
      CSINode: [csiNode('n1', { 'disk.csi': 0 })],
      PersistentVolume: [
        volume('v1', '1Gi', {
          phase: 'Bound',
          metadata: { name: 'v1', uid: 'u', resourceVersion: '1', labels: { [zone]: 'a' } },
          spec: { csi: { driver: 'disk.csi', volumeHandle: 'v1' } },
        }),
      ],
      PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
    },
    stowage: '0/1 nodes are available: 1 node(s) exceed max volume count.',
  },
];

test.each(byName(cases))('%s', (_, { cluster, claims = ['data'], stowage, upstream = stowage }) => {
  expectOutcomes(cluster, pod('p', claims), { message: stowage }, { message: upstream });
});

describe('reasons are counted by code', () => {
  test('several codes with the same text have counts of their own', () => {
    const index = clusterOf({
      Node: [node('n1'), node('n2', { [zone]: 'a' }), node('n3', { [zone]: 'a' })],
      StorageClass: [
        csiClass('disk.csi', 'local', {
          allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }],
        }),
      ],
      CSIDriver: [csiDriver('disk.csi')],
      CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '1Gi' })],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    const { reasons } = expectRefusal(index, pod('p', ['data']));
    expect(Object.fromEntries(reasons)).toEqual({ TopologyNotAllowed: 1, NotEnoughCapacity: 2 });
  });

  test('with the upstream profile one claim may refuse a node for several reasons', () => {
    const index = clusterOf(
      {
        Node: [node('n1')],
        StorageClass: [csiClass('disk.csi', 'local')],
        CSIDriver: [csiDriver('disk.csi')],
        PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', terms: [labelIn(hostname, 'n2')] })],
        PersistentVolumeClaim: [boundClaim('old', '1Gi', 'v1'), claim('data', '5Gi')],
      },
      upstreamProfile,
    );
    const { reasons } = expectRefusal(index, pod('p', ['old', 'data']));
    expect(Object.fromEntries(reasons)).toEqual({ BoundVolumeUnreachable: 1, NotEnoughCapacity: 1 });
  });
});

test('every reason has a sentence, the text of kube-scheduler and a remedy', () => {
  for (const [code, { sentence, upstream, remedy }] of Object.entries({ ...nodeReasons, ...podReasons })) {
    expect(code).toMatch(/^[A-Z][A-Za-z]+$/);
    for (const text of [sentence, upstream, remedy]) expect(text.trim().length, code).toBeGreaterThan(10);
    expect(sentence, code).not.toMatch(/\.$/);
  }
});
