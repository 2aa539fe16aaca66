import { describe, expect, test } from 'vitest';
import { assess } from '../engine/assess.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import { volumeRules } from '../engine/rules/volume-rules.ts';
import { clusterOf } from '../engine/testing/cluster.ts';
import {
  boundClaim,
  capacity,
  claim,
  csiDriver,
  driverCapacity,
  gib,
  hostname,
  inlineVolume,
  madeBy,
  node,
  pod,
  pool,
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
    StorageClass: [madeBy(driver, 'made')],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: names.map((name) =>
      capacity(name, 'made', { capacity: '10Gi', nodeTopology: { matchLabels: { [hostname]: name } } }),
    ),
    PersistentVolumeClaim: [
      claim('a', '2Gi', { className: 'made' }),
      claim('b', '3Gi', { className: 'made' }),
    ],
    Pod: [two],
    ...more,
  });
  return { index, book: new TentativeReservations(index) };
}

function take(index: ClusterIndex, book: TentativeReservations, asking: Pod, untilMs = 1): void {
  const assessment = assess(asking, index, { nowMs: 0, rules: volumeRules, nodes: names });
  const placements = names.flatMap((name) => assessment.placementOn(name) ?? []);
  book.take(placements, { untilMs, said: 'before' });
}

function change<K extends IndexedKind>(
  index: ClusterIndex,
  book: TentativeReservations,
  kind: K,
  object: ObjectOf[K],
): void {
  const { change: told } = index.upsert(kind, object);
  if (told !== undefined) book.observe(told);
}

/** Of each pool, in GiB. */
function promised(index: ClusterIndex): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { poolKey = '', size } of index.promises.all()) {
    const name = poolKey.split(/[ /]/).at(-1)!;
    sums[name] = (sums[name] ?? 0) + size.bytes / gib(1);
  }
  return sums;
}

describe('what is taken', () => {
  test('is charged to every pool that it might come from, until it is dropped', () => {
    const { index, book } = start();
    take(index, book, two);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    take(index, book, two);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    expect(book.termsOf('uid-p')).toEqual({ untilMs: 1, said: 'before' });
    book.drop('uid-p');
    book.drop('uid-p');
    expect([promised(index), book.size]).toEqual([{}, 0]);
  });

  test('is not there while somebody asks what would be without it', () => {
    const { index, book } = start();
    take(index, book, two);
    expect(book.without(() => promised(index))).toEqual({});
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
  });

  test('ends with its time', () => {
    const { index, book } = start();
    take(index, book, two, 100);
    book.expire(99);
    expect(promised(index)).toEqual({ n1: 5, n2: 5 });
    book.expire(100);
    expect(promised(index)).toEqual({});
  });

  test('is nothing for a pod without new volumes', () => {
    const { index, book } = start();
    take(index, book, pod('q', []));
    expect(book.size).toBe(0);
  });
});

describe('what the cluster shows', () => {
  test('of one claim tells where the others go: their room elsewhere is free at once', () => {
    const { index, book } = start();
    take(index, book, two);
    change(index, book, 'PersistentVolumeClaim', claim('a', '2Gi', selected('n2', '2')));
    expect(promised(index)).toEqual({ n2: 5 });
    change(index, book, 'PersistentVolumeClaim', claim('b', '3Gi', selected('n2', '2')));
    // Now it is the claims' own word.
    expect([promised(index), book.size]).toEqual([{ n2: 5 }, 0]);
  });

  test('of a claim that was given an existing volume frees its room', () => {
    const { index, book } = start();
    take(index, book, two);
    const bound = boundClaim('a', '2Gi', 'v');
    change(index, book, 'PersistentVolumeClaim', {
      ...bound,
      metadata: { ...bound.metadata, resourceVersion: '2' },
    });
    expect(promised(index)).toEqual({ n1: 3, n2: 3 });
  });

  test('of the pod ends it: on its node, over, or another of that name', () => {
    for (const after of [
      pod('p', ['a', 'b'], { nodeName: 'n1', version: '2' }),
      { ...two, metadata: { ...two.metadata, uid: 'other', resourceVersion: '2' } },
      {
        ...two,
        metadata: { ...two.metadata, resourceVersion: '2', deletionTimestamp: '2026-01-01T00:00:00Z' },
      },
    ]) {
      const { index, book } = start();
      take(index, book, two);
      change(index, book, 'Pod', after);
      expect(promised(index)).toEqual({});
    }
  });

  test('of a pod with an inline volume keeps its room until the pool says what is left', () => {
    const published = (free: string, version: string) =>
      driverCapacity(driver, [{ storageClassName: '<ephemeral>', pools: [pool('scratch', free)] }], version);
    const volumes = [inlineVolume('tmp', driver, '4Gi')];
    const asking = pod('q', [], { volumes });
    const { index, book } = start({ DriverCapacity: [published('10Gi', '1')], Pod: [asking] });
    take(index, book, asking);
    expect(promised(index)).toEqual({ scratch: 4 });
    change(index, book, 'Pod', pod('q', [], { volumes, nodeName: 'n1', version: '2' }));
    expect([promised(index), book.size]).toEqual([{ scratch: 4 }, 0]);
    change(index, book, 'DriverCapacity', published('6Gi', '2'));
    expect(promised(index)).toEqual({});
  });
});

function selected(selectedNode: string, version: string) {
  return { className: 'made', selectedNode, version };
}
