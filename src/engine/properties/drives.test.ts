import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, drive, driveNode, pod } from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';
const tiers = ['Default', 'Hot'] as const;

const fleets = fc.array(
  fc.record({
    sizeGib: fc.integer({ min: 0, max: 9 }),
    node: fc.constantFrom('n1', 'n2'),
    accessTier: fc.constantFrom(...tiers),
    unschedulable: fc.constantFrom(false, false, false, true),
  }),
  { maxLength: 6 },
);
const asks = fc.array(
  fc.record({ sizeGib: fc.integer({ min: 1, max: 6 }), className: fc.constantFrom('any', 'hot') }),
  { minLength: 1, maxLength: 4 },
);

interface Item {
  readonly sizeGib: number;
  readonly className: string;
}
interface Bin {
  readonly sizeGib: number;
  readonly accessTier: string;
  readonly unschedulable: boolean;
}

/** Tries every drive for every claim. */
function canAssign(items: readonly Item[], bins: readonly Bin[]): boolean {
  const [item, ...rest] = items;
  if (item === undefined) return true;
  return bins.some((bin, at) => {
    const isOfTier = item.className === 'any' || bin.accessTier === 'Hot';
    if (bin.unschedulable || !isOfTier || bin.sizeGib < item.sizeGib) return false;
    return canAssign(rest, bins.with(at, { ...bin, sizeGib: bin.sizeGib - item.sizeGib }));
  });
}

test('a pod is placed exactly if every claim can have a drive in one node, and no drive gets more than it has', () => {
  fc.assert(
    fc.property(fleets, asks, (fleet, items) => {
      const drives = fleet.map(({ sizeGib, node, accessTier, unschedulable }, at) =>
        drive(`d${at}`, sizeGib, { node, spec: { accessTier, unschedulable } }),
      );
      const index = clusterOf({
        StorageClass: [
          csiClass(driver, 'any'),
          csiClass(driver, 'hot', { parameters: { accessTier: 'Hot' } }),
        ],
        CSIDriver: [csiDriver(driver)],
        Node: [driveNode('n1'), driveNode('n2')],
        Drive: drives,
        PersistentVolumeClaim: items.map(({ sizeGib, className }, at) =>
          claim(`c${at}`, `${sizeGib}Gi`, { className }),
        ),
      });
      const names = items.map((_, at) => `c${at}`);
      const answer = plan(pod('p', names), index, { nowMs: 0 });
      const possible = ['n1', 'n2'].filter((node) =>
        canAssign(
          items,
          fleet.filter((bin) => bin.node === node),
        ),
      );
      if (answer.kind === 'refusal') {
        expect(possible).toEqual([]);
        return;
      }
      expect(possible).toContain(answer.node);
      const left = fleet.map((bin) => ({ ...bin }));
      for (const { claim: key, pool } of answer.provisions) {
        const item = items[Number(key.slice('default/c'.length))]!;
        const bin = left[Number(pool!.name.slice(1))]!;
        bin.sizeGib -= item.sizeGib;
        expect(bin).toMatchObject({ node: answer.node, unschedulable: false });
        expect(item.className === 'any' || bin.accessTier === 'Hot').toBe(true);
        expect(bin.sizeGib).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 1_000 },
  );
});
