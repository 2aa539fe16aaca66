/** Tables of cases: the pool that is chosen, by what the driver publishes in its DriverCapacity. */
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { DriverClassCapacity, StoragePool } from '../../kube/stowage/driver-capacity.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from './cluster.ts';
import { byName, claim, csiClass, driverCapacity, node, pod, zone } from './objects.ts';

export const poolDriver = 'disk.csi';
export const noFreeStorage: PlanOutcome = {
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

export interface PoolCase {
  readonly name: string;
  readonly storage: readonly DriverClassCapacity[];
  /** A pod with the claim `data` by default. */
  readonly pod?: Pod;
  readonly more?: ClusterObjects;
  readonly nowMs?: number;
  readonly expected: PlanOutcome;
}

export function expectPoolCases(cases: readonly PoolCase[]): void {
  test.each(byName(cases))(
    '%s',
    (_, { storage, pod: target = pod('p', ['data']), more, nowMs = 0, expected }) => {
      expect(planOutcome(clusterOf(clusterWith(storage, more)), target, nowMs)).toEqual(expected);
    },
  );
}

/** One node `n1` in zone a; classes `fast` and `slow` of one driver; a claim `data` of 5Gi and class fast. */
export function clusterWith(
  storage: readonly DriverClassCapacity[],
  more: ClusterObjects = {},
): ClusterObjects {
  return {
    Node: [node('n1', { [zone]: 'a' })],
    StorageClass: [csiClass(poolDriver, 'fast'), csiClass(poolDriver, 'slow')],
    DriverCapacity: [driverCapacity(poolDriver, storage)],
    PersistentVolumeClaim: [claim('data', '5Gi', { className: 'fast' })],
    ...more,
  };
}

/** The pools that a driver publishes for a class. */
export function classPools(storageClassName: string, ...pools: readonly StoragePool[]): DriverClassCapacity {
  return { storageClassName, pools };
}

/** Placed on `n1`, with new volumes from these pools, by claim. */
export function placedWithPools(pools: Record<string, string>): PlanOutcome {
  return { node: 'n1', volumes: {}, pools };
}
