/** Many replicas, and sizes beyond 2^53 bytes. */
import { describe, expect, test } from 'vitest';
import { csiDriver, storageCapacity, storageClass, zone } from '../../engine/testing/objects.ts';
import { nodeWith, viewOf } from '../explain/testing/cluster-views.ts';
import type { ClusterView } from '../source/cluster-view.ts';
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

test('more than a thousand: the count ends at 1,000, and says so; a higher limit has the exact number', () => {
  const view = zones({ a: '700Gi', b: '802Gi' }, '100000');
  expect(measured(view, 2 ** 30)).toMatchObject({ count: 1_000, isCapped: true, runsOut: [] });
  expect(measured(view, 2 ** 30, 10_000)).toMatchObject({
    count: 1_502,
    isCapped: false,
    runsOut: [{ reason: 'NotEnoughCapacity', nodes: 2 }],
  });
});
