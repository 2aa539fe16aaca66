import fc from 'fast-check';
import { expect, test } from 'vitest';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import { plan } from '../plan.ts';
import { clusterOf } from '../testing/cluster.ts';
import {
  claim,
  csiDriver,
  driverCapacity,
  node,
  pod,
  storageCapacity,
  storageClass,
} from '../testing/objects.ts';

const runs = 600;
const nowMs = 0;

interface PoolCapacity {
  readonly free: number;
  readonly largest: number;
}

const problems = fc.record({
  requests: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  pools: fc.array(
    fc.record({ free: fc.integer({ min: 0, max: 10 }), largest: fc.integer({ min: 1, max: 12 }) }),
    { maxLength: 3 },
  ),
});

test('a pod fits exactly if its volumes can be provisioned one after the other in some order', () => {
  fc.assert(
    fc.property(problems, ({ requests, pools }) => {
      const index = clusterOf({
        Node: [node('n1')],
        StorageClass: [storageClass('dyn', { provisioner: 'd1' })],
        CSIDriver: [csiDriver('d1')],
        CSIStorageCapacity: pools.map(({ free, largest }, position) =>
          storageCapacity(`pool-${position}`, 'dyn', {
            capacity: `${free}Gi`,
            maximumVolumeSize: `${largest}Gi`,
          }),
        ),
        PersistentVolumeClaim: claimsFor(requests),
      });
      expect(plan(podFor(requests), index, { nowMs }).kind).toBe(verdict(requests, pools));
    }),
    { numRuns: runs },
  );
});

test('the same holds for pools of a DriverCapacity, including inline volumes', () => {
  fc.assert(
    fc.property(
      problems,
      fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      ({ requests, pools }, inline) => {
        const published = pools.map(({ free }, position) => ({
          name: `p${position}`,
          capacity: `${free}Gi`,
        }));
        const index = clusterOf({
          Node: [node('n1')],
          StorageClass: [storageClass('dyn', { provisioner: 'd1' })],
          DriverCapacity: [
            driverCapacity('d1', [
              { storageClassName: 'dyn', pools: published },
              { storageClassName: '<ephemeral>', pools: published },
            ]),
          ],
          PersistentVolumeClaim: claimsFor(requests),
        });
        const all = inline === undefined ? requests : [...requests, inline];
        const single = pools.map(({ free }) => ({ free, largest: free }));
        expect(plan(podFor(requests, inline), index, { nowMs }).kind).toBe(verdict(all, single));
      },
    ),
    { numRuns: runs },
  );
});

const sharedDisks = fc.record({
  striped: fc.integer({ min: 1, max: 8 }),
  mirrored: fc.integer({ min: 1, max: 8 }),
  requests: fc.array(
    fc.record({
      className: fc.constantFrom('striped', 'mirrored'),
      size: fc.integer({ min: 1, max: 5 }),
      isPromised: fc.constantFrom(false, false, true),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

test('classes on the same disks use up each other by the ratio of their published capacities, also for claims in flight', () => {
  fc.assert(
    fc.property(sharedDisks, ({ striped, mirrored, requests }) => {
      const published = { striped, mirrored };
      const metadata = (name: string) => ({
        namespace: 'storage',
        name,
        uid: `uid-${name}`,
        labels: { [wellKnownLabels.backingPool]: 'disks' },
      });
      const index = clusterOf({
        Node: [node('n1')],
        StorageClass: ['striped', 'mirrored'].map((name) => storageClass(name, { provisioner: 'd1' })),
        CSIDriver: [csiDriver('d1')],
        CSIStorageCapacity: Object.entries(published).map(([name, size]) =>
          storageCapacity(name, name, { capacity: `${size}Gi`, metadata: metadata(name) }),
        ),
        PersistentVolumeClaim: requests.map(({ className, size, isPromised }, position) =>
          claim(`c${position}`, `${size}Gi`, { className, ...(isPromised && { selectedNode: 'n1' }) }),
        ),
      });
      const wanted = requests.flatMap(({ isPromised }, position) => (isPromised ? [] : [`c${position}`]));
      const own = requests.filter(({ isPromised }) => !isPromised);
      // Fractions of the disks, over a common denominator.
      const used = requests.reduce((sum, { className, size }) => {
        return sum + size * (className === 'striped' ? mirrored : striped);
      }, 0);
      const fits = own.length === 0 || used <= striped * mirrored;
      expect(plan(pod('pod', wanted), index, { nowMs }).kind).toBe(fits ? 'placement' : 'refusal');
    }),
    { numRuns: runs },
  );
});

function claimsFor(requests: readonly number[]) {
  return requests.map((request, position) => claim(`c${position}`, `${request}Gi`, { className: 'dyn' }));
}

function podFor(requests: readonly number[], inline?: number) {
  const volumes =
    inline === undefined ? [] : [{ name: 'scratch', csi: { driver: 'd1', fsSize: `${inline}Gi` } }];
  return pod(
    'pod',
    requests.map((_, position) => `c${position}`),
    { volumes },
  );
}

function verdict(requests: readonly number[], pools: readonly PoolCapacity[]): 'placement' | 'refusal' {
  return canProvisionAll(requests, pools) ? 'placement' : 'refusal';
}

/** Tries every order of volumes and every pool, as the requests might arrive at the driver. */
function canProvisionAll(requests: readonly number[], pools: readonly PoolCapacity[]): boolean {
  if (requests.length === 0) return true;
  return requests.some((request, position) =>
    pools.some(({ free, largest }, chosen) => {
      if (request > free || request > largest) return false;
      const left = pools.map((pool, other) => (other === chosen ? { ...pool, free: free - request } : pool));
      return canProvisionAll(requests.toSpliced(position, 1), left);
    }),
  );
}
