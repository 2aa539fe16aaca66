import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../kube/api/core.ts';
import { packShape, stowageProfile, upstreamProfile } from './cluster-index/profile.ts';
import { Ledger } from './ledger/ledger.ts';
import { plan } from './plan.ts';
import { type ClusterObjects, clusterOf, planOutcome } from './testing/cluster.ts';
import { expectRefusal, expectReservation } from './testing/expect-plan.ts';
import {
  claim,
  claimRefTo,
  csiClass,
  csiDriver,
  gib,
  hostname,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
  volume,
} from './testing/objects.ts';

/** The tests that the volume topology proposal lists, and problems that users of other schedulers had. */

const local: ClusterObjects = {
  Node: [node('n1'), node('n2')],
  StorageClass: [storageClass('local')],
};
const three = [claim('a', '1Gi'), claim('b', '2Gi'), claim('c', '3Gi')];
const abc = pod('p', ['a', 'b', 'c']);

/** Volumes of these sizes on a node, named for both. */
function disks(nodeName: string, ...sizes: readonly number[]) {
  return sizes.map((size) => localVolume(`${nodeName}-${size}`, `${size}Gi`, nodeName));
}

describe('the tests that the proposal lists:', () => {
  test('all claims find a match on the first node, best suited by capacity', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 9, 5, 3, 2, 1), ...disks('n2', 9)],
      PersistentVolumeClaim: three,
    });
    expect(planOutcome(index, abc)).toEqual({
      node: 'n1',
      volumes: { a: 'n1-1', b: 'n1-2', c: 'n1-3' },
      pools: {},
    });
  });

  test('all claims find a match on the second node, best suited by capacity', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 1, 2), ...disks('n2', 20, 10, 4, 3, 2)],
      PersistentVolumeClaim: three,
    });
    expect(planOutcome(index, abc)).toEqual({
      node: 'n2',
      volumes: { a: 'n2-2', b: 'n2-3', c: 'n2-4' },
      pools: {},
    });
  });

  test('only two of three claims have a match', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 1, 2), ...disks('n2', 2, 3)],
      PersistentVolumeClaim: three,
    });
    expect(planOutcome(index, abc)).toEqual({
      message: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
    });
  });

  test('scoring keeps the order of equally good nodes', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 4), ...disks('n2', 4)],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toMatchObject({ node: 'n1' });
  });

  test('scoring changes the order of nodes if a later one fits more tightly', () => {
    const objects: ClusterObjects = {
      ...local,
      PersistentVolume: [...disks('n1', 4), ...disks('n2', 2)],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    };
    expect(planOutcome(clusterOf(objects), pod('p', ['data']))).toMatchObject({ node: 'n2' });
    expect(planOutcome(clusterOf(objects, upstreamProfile), pod('p', ['data']))).toMatchObject({
      node: 'n1',
    });
  });

  test('scoring changes the order of nodes if a later one has a pre-provisioned volume', () => {
    const index = clusterOf({
      Node: [node('n1'), node('n2')],
      StorageClass: [csiClass('disk.csi', 'local')],
      PersistentVolume: disks('n2', 50),
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual({
      node: 'n2',
      volumes: { data: 'n2-50' },
      pools: {},
    });
  });

  test('volumes that are reserved for others are not matched', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [
        localVolume('theirs', '2Gi', 'n1', { spec: claimRefTo('theirs') }),
        localVolume('free', '90Gi', 'n2'),
      ],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual({
      node: 'n2',
      volumes: { data: 'free' },
      pools: {},
    });
  });

  test('a volume is provisioned if no existing one fits', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [csiClass('disk.csi', 'local')],
      PersistentVolume: disks('n1', 1),
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual({
      node: 'n1',
      volumes: {},
      pools: { data: 'new' },
    });
  });

  test('several local volumes on one node serve a pod with several claims; spread over nodes they do not', () => {
    const wanting = (...volumes: ReturnType<typeof disks>) =>
      plan(abc, clusterOf({ ...local, PersistentVolume: volumes, PersistentVolumeClaim: three }), {
        nowMs: 0,
      }).kind;
    expect(wanting(...disks('n1', 1, 2, 3))).toBe('placement');
    expect(wanting(...disks('n1', 1, 3), ...disks('n2', 2, 4))).toBe('refusal');
  });
});

/** Places pods one after the other, each with one claim, and reserves each placement. */
function placeAll(
  objects: ClusterObjects,
  claims: readonly PersistentVolumeClaim[],
  profile = stowageProfile,
) {
  const index = clusterOf({ ...objects, PersistentVolumeClaim: claims }, profile);
  const ledger = new Ledger(index);
  return claims.map(({ metadata }) => {
    const answer = plan(pod(`pod-${metadata!.name}`, [metadata!.name!]), index, { nowMs: 0 });
    if (answer.kind === 'refusal') return answer;
    return expectReservation(ledger, answer).placement;
  });
}

function poolsOf(size: string, ...nodeNames: readonly string[]): ClusterObjects {
  return {
    Node: nodeNames.map((name) => node(name)),
    StorageClass: [csiClass('disk.csi', 'local')],
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: nodeNames.map((name) =>
      storageCapacity(name, 'local', { capacity: size, nodeTopology: { matchLabels: { [hostname]: name } } }),
    ),
  };
}

describe('problems of users of other schedulers:', () => {
  const five = ['1', '2', '3', '4', '5'].map((name) => claim(name, '3Gi'));

  test('five pods of 3 GiB on a node with 10: three run, and two get the missing amount', () => {
    const answers = placeAll(poolsOf('10Gi', 'n1'), five);
    expect(answers.map(({ kind }) => kind)).toEqual([
      'placement',
      'placement',
      'placement',
      'refusal',
      'refusal',
    ]);
    for (const answer of answers.slice(3)) {
      if (answer.kind !== 'refusal') return expect.fail('placed');
      const [finding] = answer.explain().nodes[0]!.findings;
      expect(finding!.margin).toMatchObject({
        needed: { bytes: gib(3) },
        free: { bytes: gib(10) },
        promised: { bytes: gib(9) },
      });
    }
  });

  test('the same with kube-scheduler: all five are placed there', () => {
    const answers = placeAll(poolsOf('10Gi', 'n1'), five, upstreamProfile);
    expect(answers.map(({ kind }) => kind)).toEqual(Array(5).fill('placement'));
  });

  test('four pods of 6 GiB on three nodes with 20: all run at the first attempt', () => {
    const four = ['1', '2', '3', '4'].map((name) => claim(name, '6Gi'));
    const answers = placeAll(poolsOf('20Gi', 'n1', 'n2', 'n3'), four);
    expect(answers.map((answer) => answer.kind === 'placement' && answer.node)).toEqual([
      'n1',
      'n2',
      'n3',
      'n1',
    ]);
  });

  test('four pods of 6 GiB packed on three nodes with 20: three share a node', () => {
    const four = ['1', '2', '3', '4'].map((name) => claim(name, '6Gi'));
    const packed = { ...stowageProfile, scoring: { ...stowageProfile.scoring, poolShape: packShape } };
    const answers = placeAll(poolsOf('20Gi', 'n1', 'n2', 'n3'), four, packed);
    expect(answers.map((answer) => answer.kind === 'placement' && answer.node)).toEqual([
      'n1',
      'n1',
      'n1',
      'n2',
    ]);
  });

  test('a pod with two claims, each of which fits alone: refused, and nothing is provisioned', () => {
    const objects = {
      ...poolsOf('10Gi', 'n1'),
      PersistentVolumeClaim: [claim('a', '6Gi'), claim('b', '6Gi')],
    };
    const index = clusterOf(objects);
    const refusal = expectRefusal(index, pod('p', ['a', 'b']));
    expect(refusal.message).toBe('0/1 nodes are available: 1 node(s) did not have enough free storage.');
    expect(refusal.explain().nodes[0]!.findings.map(({ reason }) => reason)).toEqual([
      'CapacityNotTogether',
      'CapacityNotTogether',
    ]);
    expect([...index.promises.all()]).toEqual([]);
  });

  test('a claim of 1 GiB and volumes of 2 and 10 on different nodes: the 2 is chosen', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 10), ...disks('n2', 2)],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual({
      node: 'n2',
      volumes: { data: 'n2-2' },
      pools: {},
    });
  });

  test('a claim for any disk and a larger one for an SSD, with one SSD and one HDD: each gets its own', () => {
    const kind = (name: string, size: string) =>
      volume(name, size, { metadata: { name, uid: name, resourceVersion: '1', labels: { kind: name } } });
    const objects: ClusterObjects = {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [kind('ssd', '2Gi'), kind('hdd', '3Gi')],
      PersistentVolumeClaim: [
        claim('a', '1Gi'),
        claim('b', '2Gi', { spec: { selector: { matchLabels: { kind: 'ssd' } } } }),
      ],
    };
    expect(planOutcome(clusterOf(objects), pod('p', ['a', 'b']))).toEqual({
      node: 'n1',
      volumes: { a: 'hdd', b: 'ssd' },
      pools: {},
    });
    expect(planOutcome(clusterOf(objects, upstreamProfile), pod('p', ['a', 'b']))).toHaveProperty('message');
  });
});
