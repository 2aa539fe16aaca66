import fc from 'fast-check';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import type { ClassCapacity, DriverCapacity, StoragePool } from '../../../kube/stowage.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { compact, sometimes } from './chance.ts';
import { type Distribution, mixed } from './distribution.ts';
import { nodeNames } from './names.ts';
import { labelSelectors, nodeSelectors } from './selectors.ts';

export function arbCapacity(name: string, flavour: Distribution = mixed): fc.Arbitrary<CSIStorageCapacity> {
  return fc
    .record({
      storageClassName: fc.constantFrom('dyn', 'dyn', 'dyn2', 'ebs'),
      nodeTopology: fc.oneof(
        { weight: flavour.openPools, arbitrary: fc.constant({}) },
        { weight: 100 - flavour.openPools, arbitrary: sometimes(90, labelSelectors) },
      ),
      capacity: sometimes(90, flavour.sizes),
      maximumVolumeSize: sometimes(20, flavour.sizes),
      backing: sometimes(flavour.sharedDisks, fc.constantFrom('b1', 'b2')),
    })
    .map(({ backing, ...fields }) => ({
      metadata: {
        namespace: 'storage',
        name,
        uid: `uid-${name}`,
        resourceVersion: '1',
        ...(backing !== undefined && { labels: { [wellKnownLabels.backingPool]: backing } }),
      },
      ...compact(fields),
    }));
}

const expiryTimes = fc.constantFrom('2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z');

function arbPool(name: string, flavour: Distribution): fc.Arbitrary<StoragePool> {
  const bounded = Math.round((100 - flavour.openPools) / 3);
  return fc
    .record({
      nodeTopology: sometimes(bounded, nodeSelectors),
      nodeList: sometimes(bounded, fc.uniqueArray(fc.constantFrom(...nodeNames), { maxLength: 3 })),
      capacity: sometimes(95, flavour.sizes),
      expiryTime: sometimes(20, expiryTimes),
    })
    .map((fields) => ({ name, ...compact(fields) }));
}

function classCapacities(flavour: Distribution): fc.Arbitrary<ClassCapacity[]> {
  const pool = (name: string) => arbPool(name, flavour);
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

export function arbDriverCapacity(name: string, flavour: Distribution = mixed): fc.Arbitrary<DriverCapacity> {
  return fc
    .record({
      capacityTracking: fc.constantFrom(true, true, true, true, false),
      storage: classCapacities(flavour),
    })
    .map(({ capacityTracking, storage }) => ({
      metadata: { name, uid: `uid-capacity-${name}`, resourceVersion: '1' },
      spec: { capacityTracking },
      status: { storage },
    }));
}
