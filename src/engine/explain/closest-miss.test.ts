import { expect, test } from 'vitest';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import {
  byName,
  claim,
  csiClass,
  csiDriver,
  hostname,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
} from '../testing/objects.ts';
import { closestMiss } from './closest-miss.ts';

const local: ClusterObjects = {
  Node: [node('n1'), node('n2')],
  StorageClass: [storageClass('local')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

const pooled: ClusterObjects = {
  ...local,
  StorageClass: [csiClass('disk.csi', 'local')],
  CSIDriver: [csiDriver('disk.csi')],
};

const poolOf = (name: string, at: string, size: string) =>
  storageCapacity(name, 'local', { capacity: size, nodeTopology: { matchLabels: { [hostname]: at } } });

const cases: readonly { readonly name: string; readonly cluster: ClusterObjects; readonly says: string }[] = [
  {
    name: 'of several volumes the one that lacks least',
    cluster: {
      ...local,
      PersistentVolume: [localVolume('small', '1Gi', 'n1'), localVolume('almost', '4Gi', 'n2')],
    },
    says: 'Closest is node n2: claim default/data, volume almost: it is smaller than the request (needs 5Gi, has 4Gi).',
  },
  {
    name: 'of many nodes the one that lacks least',
    cluster: {
      ...local,
      Node: Array.from({ length: 40 }, (_, at) => node(`n${at}`)),
      PersistentVolume: Array.from({ length: 40 }, (_, at) =>
        localVolume(`v${at}`, at === 30 ? '4Gi' : '1Gi', `n${at}`),
      ),
    },
    says: 'Closest is node n30: claim default/data, volume v30: it is smaller than the request (needs 5Gi, has 4Gi).',
  },
  {
    name: 'a pool that lacks a little before a node without one',
    cluster: { ...pooled, CSIStorageCapacity: [poolOf('far', 'n2', '4Gi')] },
    says: 'Closest is node n2: claim default/data, pool storage/far: its maximum volume size is smaller than the request (needs 5Gi, has 4Gi).',
  },
  {
    name: 'the reason, if nothing came close',
    cluster: local,
    says: 'Closest is node n1: claim default/data: no available volume on this node fits the claim, and its class provisions none.',
  },
];

test.each(byName(cases))('%s', (_, { cluster, says }) => {
  expect(closestMiss(expectRefusal(clusterOf(cluster), pod('p', ['data'])))).toBe(says);
});

test('a node that lacks least for all claims of the pod together', () => {
  const cluster = clusterOf({
    ...pooled,
    PersistentVolumeClaim: [claim('a', '40Gi'), claim('b', '40Gi')],
    CSIStorageCapacity: [poolOf('near', 'n1', '20Gi'), poolOf('nearer', 'n2', '60Gi')],
  });
  expect(closestMiss(expectRefusal(cluster, pod('p', ['a', 'b'])))).toBe(
    'Closest is node n2: claim default/a, pool storage/nearer: another claim of the same pod uses it (together they need 80Gi, and it has 60Gi).',
  );
});

test('of nodes that lack something for every claim, the one with the smaller sum', () => {
  const cluster = clusterOf({
    ...local,
    PersistentVolumeClaim: [claim('a', '10Gi'), claim('b', '20Gi')],
    PersistentVolume: [
      localVolume('v1', '9Gi', 'n1'),
      localVolume('v2', '8Gi', 'n2'),
      localVolume('v3', '19Gi', 'n2'),
    ],
  });
  expect(closestMiss(expectRefusal(cluster, pod('p', ['a', 'b'])))).toContain('Closest is node n2:');
});

test('there is no sentence if volumes were not the obstacle, or if the profile does not want one', () => {
  const cordoned = { ...node('n1'), spec: { unschedulable: true } };
  expect(closestMiss(expectRefusal(clusterOf({ Node: [cordoned] }), pod('p', [])))).toBeUndefined();
  expect(closestMiss(expectRefusal(clusterOf(local, upstreamProfile), pod('p', ['data'])))).toBeUndefined();
});
