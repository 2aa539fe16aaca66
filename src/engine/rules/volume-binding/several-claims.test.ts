import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  byName,
  claim,
  csiClass,
  csiDriver,
  csiNode,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
  type VolumeBuilderOptions,
  volume,
} from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';
import { plan } from '../../testing/whole-engine.ts';

const noMatch: PlanOutcome = {
  message: "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
};
const noSpace: PlanOutcome = {
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

interface Case {
  readonly name: string;
  readonly volumes: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly classes?: readonly StorageClass[];
  readonly more?: ClusterObjects;
  readonly stowage: PlanOutcome;
  readonly upstream?: PlanOutcome;
}

function gives(volumes: Record<string, string>, pools: Record<string, string> = {}): PlanOutcome {
  return { node: 'n1', volumes, pools };
}

function disk(name: string, size: string, labels: Record<string, string>, rest: VolumeBuilderOptions = {}) {
  return volume(name, size, {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels },
    ...rest,
  });
}

function wanting(name: string, size: string, matchLabels: Record<string, string>): PersistentVolumeClaim {
  return claim(name, size, { spec: { selector: { matchLabels } } });
}

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { volumes, claims, classes, more, stowage, upstream = stowage }) => {
    const objects: ClusterObjects = {
      Node: [node('n1')],
      StorageClass: classes ?? [storageClass('local')],
      PersistentVolume: volumes,
      PersistentVolumeClaim: claims,
      ...more,
    };
    const names = claims.map(({ metadata }) => metadata!.name!);
    for (const order of [names, names.toReversed()]) {
      expectOutcomes(objects, pod('p', order), stowage, upstream);
    }
  });
}

describe('claims of one kind', () => {
  expectCases([
    {
      name: 'get a volume each',
      volumes: [volume('v1', '1Gi'), volume('v2', '2Gi')],
      claims: [claim('a', '1Gi'), claim('b', '2Gi')],
      stowage: gives({ a: 'v1', b: 'v2' }),
    },
    {
      name: 'are served smallest first, so that the small one leaves the large volume free',
      volumes: [volume('v5', '5Gi'), volume('v10', '10Gi')],
      claims: [claim('large', '6Gi'), claim('small', '1Gi')],
      stowage: gives({ small: 'v5', large: 'v10' }),
    },
    {
      name: 'are refused together if only one finds a volume',
      volumes: [volume('v5', '5Gi')],
      claims: [claim('a', '1Gi'), claim('b', '1Gi')],
      stowage: noMatch,
    },
    {
      name: 'are refused if only two of three find a volume',
      volumes: [volume('v1', '1Gi'), volume('v2', '2Gi')],
      claims: [claim('a', '1Gi'), claim('b', '2Gi'), claim('c', '3Gi')],
      stowage: noMatch,
    },
    {
      name: 'never share a volume, however large',
      volumes: [volume('v1', '1Ti')],
      claims: [claim('a', '1Gi'), claim('b', '1Gi')],
      stowage: noMatch,
    },
  ]);

  test('of equal size get volumes by name, in the order of the pod', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [volume('v2', '5Gi'), volume('v1', '5Gi')],
      PersistentVolumeClaim: [claim('a', '5Gi'), claim('b', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(gives({ a: 'v1', b: 'v2' }));
    expect(planOutcome(index, pod('p', ['b', 'a']))).toEqual(gives({ b: 'v1', a: 'v2' }));
  });

  test('count once if two volumes of the pod name the same claim', () => {
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [volume('v1', '5Gi')],
      PersistentVolumeClaim: [claim('a', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'a']))).toEqual(gives({ a: 'v1' }));
  });
});

describe('claims that compete for volumes', () => {
  expectCases([
    {
      name: 'are served exactly if smallest-first would leave one without a volume',
      volumes: [disk('ssd', '2Gi', { kind: 'ssd' }), disk('hdd', '3Gi', { kind: 'hdd' })],
      claims: [claim('any', '1Gi'), wanting('fast', '2Gi', { kind: 'ssd' })],
      stowage: gives({ any: 'hdd', fast: 'ssd' }),
      upstream: noMatch,
    },
    {
      name: 'are served through a chain of reassignments',
      volumes: [
        disk('v1', '1Gi', { a: 'x', b: 'x', c: 'x' }),
        disk('v2', '2Gi', { b: 'x', c: 'x' }),
        disk('v3', '3Gi', { c: 'x' }),
      ],
      claims: [
        wanting('c1', '1000Mi', { a: 'x' }),
        wanting('c2', '100Mi', { b: 'x' }),
        wanting('c3', '10Mi', { c: 'x' }),
      ],
      stowage: gives({ c1: 'v1', c2: 'v2', c3: 'v3' }),
      upstream: noMatch,
    },
    {
      name: 'are refused if no assignment exists',
      volumes: [disk('v1', '2Gi', { kind: 'ssd' }), disk('v2', '2Gi', { kind: 'hdd' })],
      claims: [wanting('a', '1Gi', { kind: 'ssd' }), wanting('b', '2Gi', { kind: 'ssd' })],
      stowage: noMatch,
    },
    {
      name: 'waste as little as possible',
      volumes: [
        disk('v2', '2Gi', { kind: 'ssd' }),
        disk('v4', '4Gi', {}),
        disk('v9', '9Gi', { kind: 'ssd' }),
      ],
      claims: [claim('any', '1Gi'), wanting('fast', '1100Mi', { kind: 'ssd' })],
      stowage: gives({ any: 'v4', fast: 'v2' }),
      upstream: gives({ any: 'v2', fast: 'v9' }),
    },
    {
      name: 'by access modes are served exactly, too',
      volumes: [
        volume('shared', '2Gi', { spec: { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } }),
        volume('single', '3Gi'),
      ],
      claims: [claim('one', '1Gi'), claim('many', '2Gi', { spec: { accessModes: ['ReadWriteMany'] } })],
      stowage: gives({ one: 'single', many: 'shared' }),
      upstream: noMatch,
    },
    {
      name: 'are of one class: others do not compete',
      volumes: [volume('v1', '1Gi'), volume('w1', '1Gi', { className: 'other' })],
      classes: [storageClass('local'), storageClass('other')],
      claims: [claim('a', '1Gi'), claim('b', '1Gi', { className: 'other' })],
      stowage: gives({ a: 'v1', b: 'w1' }),
    },
  ]);
});

describe('claims for which new volumes can be provisioned', () => {
  const dynamic = csiClass('disk.csi', 'local');
  const pools = (free: string): ClusterObjects => ({
    CSIDriver: [csiDriver('disk.csi')],
    CSIStorageCapacity: [storageCapacity('here', 'local', { capacity: free })],
  });

  expectCases([
    {
      name: 'get the existing volume if there is one, and a new one otherwise',
      volumes: [volume('v1', '1Gi')],
      classes: [dynamic],
      claims: [claim('small', '1Gi'), claim('large', '5Gi')],
      stowage: gives({ small: 'v1' }, { large: 'new' }),
    },
    {
      name: 'waste least: the one that fits the existing volume best gets it',
      volumes: [volume('v5', '5Gi')],
      classes: [dynamic],
      claims: [claim('small', '1Gi'), claim('large', '5Gi')],
      stowage: gives({ large: 'v5' }, { small: 'new' }),
      upstream: gives({ small: 'v5' }, { large: 'new' }),
    },
    {
      name: 'give the existing volume to the claim for which there is no capacity',
      volumes: [volume('v5', '5Gi')],
      classes: [dynamic],
      claims: [claim('small', '1Gi'), claim('large', '5Gi')],
      more: pools('1Gi'),
      stowage: gives({ large: 'v5' }, { small: 'storage/here' }),
      upstream: noSpace,
    },
    {
      name: 'share the capacity of a pool: each fits alone, not together',
      volumes: [],
      classes: [dynamic],
      claims: [claim('a', '6Gi'), claim('b', '6Gi')],
      more: pools('10Gi'),
      stowage: noSpace,
      upstream: gives({}, { a: 'storage/here', b: 'storage/here' }),
    },
    {
      name: 'share the capacity of a pool down to the last byte',
      volumes: [],
      classes: [dynamic],
      claims: [claim('a', '4Gi'), claim('b', '6Gi')],
      more: pools('10Gi'),
      stowage: gives({}, { a: 'storage/here', b: 'storage/here' }),
    },
    {
      name: 'use an existing volume if that makes the rest fit the pool',
      volumes: [volume('v6', '6Gi')],
      classes: [dynamic],
      claims: [claim('a', '4Gi'), claim('b', '6Gi'), claim('c', '5Gi')],
      more: pools('10Gi'),
      stowage: gives({ b: 'v6' }, { a: 'storage/here', c: 'storage/here' }),
      upstream: gives({ a: 'v6' }, { b: 'storage/here', c: 'storage/here' }),
    },
  ]);
});

describe('attach slots are part of the choice', () => {
  const csi = (name: string, size: string, driver: string): PersistentVolume =>
    volume(name, size, { spec: { csi: { driver, volumeHandle: name } } });

  test('a larger volume of a driver with free slots is preferred to a closer one without', () => {
    const index = clusterOf({
      Node: [node('n1')],
      CSINode: [csiNode('n1', { 'full.csi': 0, 'free.csi': 5 })],
      StorageClass: [storageClass('local')],
      PersistentVolume: [csi('close', '5Gi', 'full.csi'), csi('loose', '9Gi', 'free.csi')],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(gives({ data: 'loose' }));
  });

  test('two claims are divided over two drivers with a slot each', () => {
    const index = clusterOf({
      Node: [node('n1')],
      CSINode: [csiNode('n1', { 'one.csi': 1, 'two.csi': 1 })],
      StorageClass: [storageClass('local')],
      PersistentVolume: [
        csi('v1', '1Gi', 'one.csi'),
        csi('v2', '2Gi', 'one.csi'),
        csi('v3', '3Gi', 'two.csi'),
      ],
      PersistentVolumeClaim: [claim('a', '1Gi'), claim('b', '1Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(gives({ a: 'v1', b: 'v3' }));
  });

  test('a node without slots for any solution is refused for the attach limit', () => {
    const index = clusterOf({
      Node: [node('n1')],
      CSINode: [csiNode('n1', { 'one.csi': 1 })],
      StorageClass: [storageClass('local')],
      PersistentVolume: [csi('v1', '1Gi', 'one.csi'), csi('v2', '2Gi', 'one.csi')],
      PersistentVolumeClaim: [claim('a', '1Gi'), claim('b', '1Gi')],
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual({
      message: '0/1 nodes are available: 1 node(s) exceed max volume count.',
    });
  });
});

describe('the search stays within bounds', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`);

  test('twenty competing claims are served', () => {
    const names = many(20);
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: names.map((name, at) => disk(`v-${name}`, `${at + 1}Gi`, { of: name, all: 'x' })),
      PersistentVolumeClaim: names.map((name, at) =>
        wanting(name, '1Gi', at % 2 === 0 ? { all: 'x' } : { of: name }),
      ),
    });
    const answer = plan(pod('p', names), index, { nowMs: 0 });
    expect(answer.kind).toBe('placement');
  });

  test('a node that the fast way decides stays feasible, however many nodes were searched before it', () => {
    const nodes = Array.from({ length: 3_000 }, (_, at) => `n${at}`);
    const disks = [1, 2, 3, 4];
    const index = clusterOf({
      Node: nodes.map((name) => node(name)),
      StorageClass: [csiClass('disk.csi', 'local')],
      PersistentVolume: nodes.flatMap((name) =>
        disks.map((at) => localVolume(`v${at}-${name}`, '5Gi', name)),
      ),
      PersistentVolumeClaim: many(8).map((name, at) => claim(name, `${at + 1}00Mi`)),
    });
    const answer = plan(pod('p', many(8)), index, { nowMs: 0 });
    expect(answer).toMatchObject({ kind: 'placement', feasibleNodes: 3_000 });
  });
});
