import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Placement } from '../plan.ts';
import { clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, drive, driveNode, inlineVolume, pod } from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';
const tiers = ['Default', 'Hot'] as const;
/** Owners of claims, and groups in ledgers. */
const owners = ['a', 'b'] as const;

const fleets = fc.array(
  fc.record({
    sizeGib: fc.integer({ min: 0, max: 9 }),
    node: fc.constantFrom('n1', 'n2'),
    accessTier: fc.constantFrom(...tiers),
    unschedulable: fc.constantFrom(false, false, false, true),
    groups: fc.constantFrom<readonly string[]>([], [], [], ['default/a'], ['default/b']),
  }),
  { minLength: 1, maxLength: 6 },
);
/** Claims of the classes `any`, `hot` and `spread`, and an inline volume as a separate class. */
const asks = fc.array(
  fc.record({
    sizeGib: fc.integer({ min: 1, max: 6 }),
    className: fc.constantFrom('any', 'hot', 'spread', 'spread', 'spread-hot', 'inline', 'inline-hot'),
    owner: fc.constantFrom(...owners, ''),
  }),
  { minLength: 1, maxLength: 4 },
);

interface Item {
  readonly sizeGib: number;
  readonly className: string;
  readonly owner: string;
}
interface Bin {
  readonly sizeGib: number;
  readonly accessTier: string;
  readonly unschedulable: boolean;
  readonly groups: readonly string[];
}

function groupOf({ className, owner }: Item): string | undefined {
  return className.startsWith('spread') && owner !== '' ? `default/${owner}` : undefined;
}

/** The drive with one more volume; undefined if it does not take it. */
function withItem(bin: Bin, item: Item): Bin | undefined {
  const isOfTier = !item.className.endsWith('hot') || bin.accessTier === 'Hot';
  if (bin.unschedulable || !isOfTier || bin.sizeGib < item.sizeGib) return undefined;
  const group = groupOf(item);
  if (group !== undefined && bin.groups.includes(group)) return undefined;
  const groups = group === undefined ? bin.groups : [...bin.groups, group];
  return { ...bin, sizeGib: bin.sizeGib - item.sizeGib, groups };
}

/** Tries every drive for every volume. */
function canAssign(items: readonly Item[], bins: readonly Bin[]): boolean {
  const [item, ...rest] = items;
  if (item === undefined) return true;
  return bins.some((bin, at) => {
    const next = withItem(bin, item);
    return next !== undefined && canAssign(rest, bins.with(at, next));
  });
}

function claimOf({ sizeGib, className, owner }: Item, at: number) {
  const ownerReferences = [{ kind: 'StatefulSet', name: owner, uid: owner, controller: true }];
  const metadata = {
    namespace: 'default',
    name: `c${at}`,
    uid: `uid-c${at}`,
    resourceVersion: '1',
    ...(owner !== '' && { ownerReferences }),
  };
  return claim(`c${at}`, `${sizeGib}Gi`, { className, metadata });
}

function inlineOf({ sizeGib, className }: Item, at: number) {
  const volume = inlineVolume(`c${at}`, driver, `${sizeGib}Gi`);
  const volumeAttributes = { accessTier: 'hot' };
  return className === 'inline' ? volume : { ...volume, csi: { ...volume.csi!, volumeAttributes } };
}

/** The drive of each volume, by the position of the volume. */
function drivesIn({ provisions, inlineVolumes }: Placement): readonly (readonly [number, number])[] {
  return [
    ...provisions.map(({ claim: key, pool }) => [key.slice('default/c'.length), pool!.name] as const),
    ...inlineVolumes.map(({ volume, pool }) => [volume.slice('default/p:c'.length), pool.name] as const),
  ].map(([position, name]) => [Number(position), Number(name.slice(1))]);
}

test('a pod is placed exactly if every volume can have a drive in one node, and no drive gets more than it takes', () => {
  fc.assert(
    fc.property(fleets, asks, (fleet, items) => {
      const isInline = ({ className }: Item) => className.startsWith('inline');
      const spreadBy = 'claim-owner';
      const index = clusterOf({
        StorageClass: [
          csiClass(driver, 'any'),
          csiClass(driver, 'hot', { parameters: { accessTier: 'Hot' } }),
          csiClass(driver, 'spread', { parameters: { spreadBy } }),
          csiClass(driver, 'spread-hot', { parameters: { spreadBy, accessTier: 'Hot' } }),
        ],
        CSIDriver: [csiDriver(driver)],
        Node: [driveNode('n1'), driveNode('n2')],
        Drive: fleet.map(({ sizeGib, node, accessTier, unschedulable, groups }, at) => {
          const volumes = groups.map((spreadGroup) => ({ name: spreadGroup, sizeBytes: 0, spreadGroup }));
          return drive(`d${at}`, sizeGib, { node, spec: { accessTier, unschedulable, volumes } });
        }),
        PersistentVolumeClaim: items.flatMap((item, at) => (isInline(item) ? [] : [claimOf(item, at)])),
      });
      const names = items.flatMap((item, at) => (isInline(item) ? [] : [`c${at}`]));
      const inline = items.flatMap((item, at) => (isInline(item) ? [inlineOf(item, at)] : []));
      const answer = plan(pod('p', names, { volumes: inline }), index, { nowMs: 0 });
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
      const drives = drivesIn(answer);
      expect(drives.map(([position]) => position).sort()).toEqual(items.map((_, at) => at));
      const left: Bin[] = [...fleet];
      for (const [position, at] of drives) {
        expect(fleet[at]!.node).toBe(answer.node);
        const next = withItem(left[at]!, items[position]!);
        expect(next).toBeDefined();
        left[at] = next!;
      }
    }),
    { numRuns: 600 },
  );
});
