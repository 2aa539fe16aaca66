import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../kube/api/core.ts';
import { packShape, stowageProfile, upstreamProfile } from './cluster-index/profile.ts';
import { Ledger } from './ledger/ledger.ts';
import { plan } from './plan.ts';
import { refusalOf, reserveIn } from './testing/expect-plan.ts';
import { type ClusterObjects, clusterOf, outcomeOf } from './testing/cluster.ts';
import {
  capacity,
  claim,
  csiDriver,
  gib,
  hostname,
  localVolume,
  madeBy,
  node,
  pod,
  reservedFor,
  storageClass,
  volume,
} from './testing/objects.ts';

/** What the volume topology proposal asks its tests to show, and what users of such schedulers have run into. */

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
    expect(outcomeOf(index, abc)).toEqual({
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
    expect(outcomeOf(index, abc)).toEqual({
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
    expect(outcomeOf(index, abc)).toEqual({
      message: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
    });
  });

  test('scoring leaves the order of nodes where they are as good as each other', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [...disks('n1', 4), ...disks('n2', 4)],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(outcomeOf(index, pod('p', ['data']))).toMatchObject({ node: 'n1' });
  });

  test('scoring changes the order of nodes where a later one fits closer', () => {
    const objects: ClusterObjects = {
      ...local,
      PersistentVolume: [...disks('n1', 4), ...disks('n2', 2)],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    };
    expect(outcomeOf(clusterOf(objects), pod('p', ['data']))).toMatchObject({ node: 'n2' });
    expect(outcomeOf(clusterOf(objects, upstreamProfile), pod('p', ['data']))).toMatchObject({ node: 'n1' });
  });

  test('scoring changes the order of nodes where a later one has a volume made for the purpose', () => {
    const index = clusterOf({
      Node: [node('n1'), node('n2')],
      StorageClass: [madeBy('disk.csi', 'local')],
      PersistentVolume: disks('n2', 50),
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(outcomeOf(index, pod('p', ['data']))).toEqual({
      node: 'n2',
      volumes: { data: 'n2-50' },
      pools: {},
    });
  });

  test('volumes that are reserved for others are not matched', () => {
    const index = clusterOf({
      ...local,
      PersistentVolume: [
        localVolume('theirs', '2Gi', 'n1', { spec: reservedFor('theirs') }),
        localVolume('free', '90Gi', 'n2'),
      ],
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(outcomeOf(index, pod('p', ['data']))).toEqual({
      node: 'n2',
      volumes: { data: 'free' },
      pools: {},
    });
  });

  test('a volume is made where those that exist do not suit', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [madeBy('disk.csi', 'local')],
      PersistentVolume: disks('n1', 1),
      PersistentVolumeClaim: [claim('data', '2Gi')],
    });
    expect(outcomeOf(index, pod('p', ['data']))).toEqual({ node: 'n1', volumes: {}, pools: { data: 'new' } });
  });

  test('several local volumes on one node serve a pod that wants several; spread over nodes they do not', () => {
    const wanting = (...volumes: ReturnType<typeof disks>) =>
      plan(abc, clusterOf({ ...local, PersistentVolume: volumes, PersistentVolumeClaim: three }), {
        nowMs: 0,
      }).kind;
    expect(wanting(...disks('n1', 1, 2, 3))).toBe('placement');
    expect(wanting(...disks('n1', 1, 3), ...disks('n2', 2, 4))).toBe('refusal');
  });
});

/** Places pods one after the other, each with one claim, and reserves what it was given. */
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
    return reserveIn(ledger, answer).placement;
  });
}

function poolsOf(size: string, ...nodeNames: readonly string[]): ClusterObjects {
  return {
    Node: nodeNames.map((name) => node(name)),
    StorageClass: [madeBy('disk.csi', 'local')],
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: nodeNames.map((name) =>
      capacity(name, 'local', { capacity: size, nodeTopology: { matchLabels: { [hostname]: name } } }),
    ),
  };
}

describe('what users of other schedulers have run into:', () => {
  const five = ['1', '2', '3', '4', '5'].map((name) => claim(name, '3Gi'));

  test('five pods of 3 GiB on a node with 10: three run, and two are told by how much they miss', () => {
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

  test('the same under kube-scheduler: all five are sent there', () => {
    const answers = placeAll(poolsOf('10Gi', 'n1'), five, upstreamProfile);
    expect(answers.map(({ kind }) => kind)).toEqual(Array(5).fill('placement'));
  });

  test('four pods of 6 GiB on three nodes with 20: all run, none is tried twice', () => {
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
    const refusal = refusalOf(index, pod('p', ['a', 'b']));
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
    expect(outcomeOf(index, pod('p', ['data']))).toEqual({
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
    expect(outcomeOf(clusterOf(objects), pod('p', ['a', 'b']))).toEqual({
      node: 'n1',
      volumes: { a: 'hdd', b: 'ssd' },
      pools: {},
    });
    expect(outcomeOf(clusterOf(objects, upstreamProfile), pod('p', ['a', 'b']))).toHaveProperty('message');
  });
});
