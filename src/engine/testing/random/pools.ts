import fc from 'fast-check';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import type {
  DriverCapacity,
  DriverClassCapacity,
  StoragePool,
} from '../../../kube/stowage/driver-capacity.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { sometimes, withoutUndefined } from './chance.ts';
import { type Distribution, mixed } from './distribution.ts';
import { nodeNames } from './names.ts';
import { labelSelectors, nodeSelectors } from './selectors.ts';

export function arbCapacity(
  name: string,
  distribution: Distribution = mixed,
): fc.Arbitrary<CSIStorageCapacity> {
  return fc
    .record({
      storageClassName: fc.constantFrom('dyn', 'dyn', 'dyn2', 'ebs'),
      nodeTopology: fc.oneof(
        { weight: distribution.openPools, arbitrary: fc.constant({}) },
        { weight: 100 - distribution.openPools, arbitrary: sometimes(90, labelSelectors) },
      ),
      capacity: sometimes(90, distribution.sizes),
      maximumVolumeSize: sometimes(20, distribution.sizes),
      backing: sometimes(distribution.sharedDisks, fc.constantFrom('b1', 'b2')),
    })
    .map(({ backing, ...fields }) => ({
      metadata: {
        namespace: 'storage',
        name,
        uid: `uid-${name}`,
        resourceVersion: '1',
        ...(backing !== undefined && { labels: { [wellKnownLabels.backingPool]: backing } }),
      },
      ...withoutUndefined(fields),
    }));
}

const expiryTimes = fc.constantFrom('2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z');

function arbPool(name: string, distribution: Distribution): fc.Arbitrary<StoragePool> {
  const bounded = Math.round((100 - distribution.openPools) / 3);
  return fc
    .record({
      nodeTopology: sometimes(bounded, nodeSelectors),
      nodeList: sometimes(bounded, fc.uniqueArray(fc.constantFrom(...nodeNames), { maxLength: 3 })),
      capacity: sometimes(95, distribution.sizes),
      expiryTime: sometimes(20, expiryTimes),
    })
    .map((fields) => ({ name, ...withoutUndefined(fields) }));
}

function classCapacities(distribution: Distribution): fc.Arbitrary<DriverClassCapacity[]> {
  const pool = (name: string) => arbPool(name, distribution);
  return fc.uniqueArray(
    fc
      .tuple(
        fc.constantFrom('dyn', 'dyn2', '<ephemeral>', '<fallback>'),
        fc.tuple(sometimes(80, pool('p1')), sometimes(50, pool('p2')), sometimes(20, pool('p3'))),
      )
      .map(([storageClassName, pools]) => ({
        storageClassName,
        pools: pools.filter((drawn) => drawn !== undefined),
      })),
    { maxLength: 3, selector: ({ storageClassName }) => storageClassName },
  );
}

/** `driver`: the object carries pools of this driver instead of the driver that it is named after. */
export function arbDriverCapacity(
  name: string,
  distribution: Distribution = mixed,
  driver?: string,
): fc.Arbitrary<DriverCapacity> {
  return fc
    .record({
      capacityTracking: fc.constantFrom(true, true, true, true, false),
      storage: classCapacities(distribution),
    })
    .map(({ capacityTracking, storage }) => ({
      metadata: { name, uid: `uid-capacity-${name}`, resourceVersion: '1' },
      spec: { capacityTracking, ...(driver !== undefined && { driver }) },
      status: { storage },
    }));
}
