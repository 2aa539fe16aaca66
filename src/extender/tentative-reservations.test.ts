import { describe, expect, test } from 'vitest';
import { assess } from '../engine/assess.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import { volumeRules } from '../engine/rules/volume-rules.ts';
import { clusterOf } from '../engine/testing/cluster.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  gib,
  hostname,
  inlineVolume,
  node,
  pod,
  pool,
  storageCapacity,
} from '../engine/testing/objects.ts';
import type { Pod } from '../kube/api/core.ts';
import { TentativeReservations } from './tentative-reservations.ts';

const driver = 'disk.csi';
const names = ['n1', 'n2'];
const two = pod('p', ['a', 'b']);

/** Two nodes with a pool of 10Gi each, and a pod with claims of 2Gi and 3Gi. */
function start(more: Parameters<typeof clusterOf>[0] = {}) {
  const index = clusterOf({
    Node: names.map((name) => node(name)),
    StorageClass: [csiClass(driver, 'made')],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: names.map((name) =>
      storageCapacity(name, 'made', {
        capacity: '10Gi',
        nodeTopology: { matchLabels: { [hostname]: name } },
      }),
    ),
    PersistentVolumeClaim: [
      claim('a', '2Gi', { className: 'made' }),
      claim('b', '3Gi', { className: 'made' }),
    ],
    Pod: [two],
    ...more,
  });
  return { index, reservations: new TentativeReservations(index) };
}

function reserve(index: ClusterIndex, reservations: TentativeReservations, pending: Pod, untilMs = 1): void {
  const assessment = assess(pending, index, { nowMs: 0, rules: volumeRules, nodes: names });
  const placements = names.flatMap((name) => assessment.placementOn(name) ?? []);
  reservations.reserve(placements, { untilMs, lastRefusal: 'before' });
}

function change<K extends IndexedKind>(
  index: ClusterIndex,
  reservations: TentativeReservations,
  kind: K,
  object: ObjectOf[K],
): void {
  const { change: applied } = index.upsert(kind, object);
  if (applied !== undefined) reservations.observe(applied);
}

/** What is promised of each pool, in GiB. */
function promised(index: ClusterIndex): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { poolKey = '', size } of index.promises.all()) {
    const name = poolKey.split(/[ /]/).at(-1)!;
    sums[name] = (sums[name] ?? 0) + size.bytes / gib(1);
  }
  return sums;
}

describe('a tentative reservation', () => {
  test('is charged to every pool that a volume may come from, until it is released', () => {
    const { index, reservations } = start();
    reserve(index, reservations, two);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    reserve(index, reservations, two);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    expect(reservations.termsOf('uid-p')).toEqual({ untilMs: 1, lastRefusal: 'before' });
    reservations.release('uid-p');
    reservations.release('uid-p');
    expect([promised(index), reservations.size]).toEqual([{}, 0]);
  });

  test('does not count inside `ignoring`', () => {
    const { index, reservations } = start();
    reserve(index, reservations, two);
    expect(reservations.ignoring(() => promised(index))).toEqual({});
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
  });

  test('expires', () => {
    const { index, reservations } = start();
    reserve(index, reservations, two, 100);
    reservations.expire(99);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    reservations.expire(100);
    expect(promised(index)).toEqual({});
  });

  test('is not made for a pod without new volumes', () => {
    const { index, reservations } = start();
    reserve(index, reservations, pod('q', []));
    expect(reservations.size).toBe(0);
  });
});

describe('observing the cluster', () => {
  test('the selected node of one claim releases the capacity for the others on other nodes', () => {
    const { index, reservations } = start();
    reserve(index, reservations, two);
    change(index, reservations, 'PersistentVolumeClaim', claim('a', '2Gi', selected('n2', '2')));
    expect(promised(index)).toEqual({ n2: 5 });
    change(index, reservations, 'PersistentVolumeClaim', claim('b', '3Gi', selected('n2', '2')));
    // Now the index counts the claims' selected nodes.
    expect([promised(index), reservations.size]).toEqual([{ n2: 5 }, 0]);
  });

  test('a claim bound to an existing volume releases its capacity', () => {
    const { index, reservations } = start();
    reserve(index, reservations, two);
    const bound = boundClaim('a', '2Gi', 'v');
    change(index, reservations, 'PersistentVolumeClaim', {
      ...bound,
      metadata: { ...bound.metadata, resourceVersion: '2' },
    });
    expect(promised(index)).toEqual({ n1: 3, n2: 3 });
  });

  test('a pod that has a node, is being deleted or was re-created ends its reservation', () => {
    for (const after of [
      pod('p', ['a', 'b'], { nodeName: 'n1', version: '2' }),
      { ...two, metadata: { ...two.metadata, uid: 'other', resourceVersion: '2' } },
      {
        ...two,
        metadata: { ...two.metadata, resourceVersion: '2', deletionTimestamp: '2026-01-01T00:00:00Z' },
      },
    ]) {
      const { index, reservations } = start();
      reserve(index, reservations, two);
      change(index, reservations, 'Pod', after);
      expect(promised(index)).toEqual({});
    }
  });

  test('an inline volume of an assigned pod keeps its promise until the pool publishes its capacity', () => {
    const published = (free: string, version: string) =>
      driverCapacity(driver, [{ storageClassName: '<ephemeral>', pools: [pool('scratch', free)] }], version);
    const volumes = [inlineVolume('tmp', driver, '4Gi')];
    const pending = pod('q', [], { volumes });
    const { index, reservations } = start({ DriverCapacity: [published('10Gi', '1')], Pod: [pending] });
    reserve(index, reservations, pending);
    expect(promised(index)).toEqual({ scratch: 4 });
    change(index, reservations, 'Pod', pod('q', [], { volumes, nodeName: 'n1', version: '2' }));
    expect([promised(index), reservations.size]).toEqual([{ scratch: 4 }, 0]);
    change(index, reservations, 'DriverCapacity', published('6Gi', '2'));
    expect(promised(index)).toEqual({});
  });
});

function selected(selectedNode: string, version: string) {
  return { className: 'made', selectedNode, version };
}
