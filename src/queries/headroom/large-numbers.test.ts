/** Many replicas, and sizes beyond 2^53 bytes. */
import { describe, expect, test } from 'vitest';
import { csiDriver, storageCapacity, storageClass, zone } from '../../engine/testing/objects.ts';
import { nodeWith, viewOf } from '../testing/cluster-views.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { measureRoom } from './measure.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const driver = 'pools.example.com';
const ei = 2 ** 60;

/** A node in each zone, with a pool of this capacity. */
function zones(capacities: Readonly<Record<string, string>>, podsPerNode: string): ClusterView {
  const names = Object.keys(capacities);
  return viewOf({
    Node: names.map((name) => {
      const node = nodeWith(`n-${name}`, '4', { [zone]: name });
      const allocatable = { ...node.status?.allocatable, pods: podsPerNode };
      return { ...node, status: { ...node.status, allocatable } };
    }),
    StorageClass: [storageClass('pools', { provisioner: driver })],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: names.map((name) =>
      storageCapacity(`pool-${name}`, 'pools', {
        capacity: capacities[name]!,
        nodeTopology: { matchLabels: { [zone]: name } },
      }),
    ),
  });
}

function measured(view: ClusterView, bytes: number, countMax?: number) {
  return measureRoom(view, { ...options, size: { text: String(bytes), bytes }, countMax }).rows[0]!;
}

describe('sizes beyond 2^53 bytes', () => {
  test.each([
    [ei, 7],
    [4 * ei, 1],
    [7 * ei, 1],
  ])('of %d bytes, %d fit in a pool of 2^63 - 1', (bytes, count) => {
    const row = measured(zones({ a: '9223372036854775807' }, '100'), bytes);
    expect([row.count, row.isCapped]).toEqual([count, false]);
  });

  test('the largest claim is found, though not every number of bytes can be written', () => {
    const { largestBytes } = measured(zones({ a: '9223372036854775807' }, '100'), ei);
    expect(largestBytes).toBeGreaterThan(2 ** 63 - 2 ** 12);
    expect(largestBytes).toBeLessThan(2 ** 63);
  });
});

test('a byte more than the pool has does not fit', () => {
  const view = zones({ a: '3' }, '100');
  expect(measured(view, 3)).toMatchObject({ count: 1, largestBytes: 3 });
  expect(measured(view, 4)).toMatchObject({ count: 0, largestBytes: 3 });
});

/** Capacity limits the first half of the `count` zones to 90 claims each, and pods limit the second half to 110. */
function manyZones(count: number): ClusterView {
  const capacities = Array.from({ length: count }, (_, at) => [`z${at}`, at < count / 2 ? '90Gi' : '200Gi']);
  return zones(Object.fromEntries(capacities) as Record<string, string>, '110');
}

test('more than a thousand: the count ends at 1,000, and says so; a higher limit has the exact number', () => {
  const view = manyZones(12);
  expect(measured(view, 2 ** 30)).toMatchObject({ count: 1_000, isCapped: true, runsOut: [] });
  expect(measured(view, 2 ** 30, 1_200)).toMatchObject({ count: 1_200, isCapped: true });
  expect(measured(view, 2 ** 30, 1_201)).toMatchObject({ count: 1_200, isCapped: false });
});

test('ten thousand are counted exactly, and what runs out is named for all nodes', () => {
  const row = measured(manyZones(100), 2 ** 30, 100_000);
  expect(row).toMatchObject({ count: 10_000, isCapped: false });
  expect(row.runsOut.map(({ reason, nodes }) => [reason, nodes])).toEqual(
    expect.arrayContaining([
      ['NotEnoughCapacity', 50],
      ['TooManyPods', 50],
    ]),
  );
});
