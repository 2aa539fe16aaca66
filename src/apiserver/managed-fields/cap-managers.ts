import { compareUtf8 } from '../../kube/sorted-keys.ts';
import { type FieldSet, union } from './field-set.ts';
import { compareTimes, identityOf, type Manager } from './managers.ts';

/** Managers that updated, per object. */
const updatersMax = 10;
const bucketName = 'ancient-changes';

/** Bounds the list: the oldest updaters of a version become one. Appliers stay, whatever their number. */
export function capManagers(managers: readonly Manager[]): readonly Manager[] {
  let excess = -updatersMax;
  for (const { operation } of managers) if (operation === 'Update') excess++;
  return excess > 0 ? mergeOldest(managers, excess) : managers;
}

function mergeOldest(managers: readonly Manager[], excess: number): readonly Manager[] {
  const byIdentity = new Map(managers.map((manager) => [identityOf(manager), bucketOf(manager)]));
  const firstOfVersion = new Map<string, string>();
  let left = excess;
  for (const [identity, manager] of oldestFirst(byIdentity)) {
    if (left === 0) break;
    const first = firstOfVersion.get(manager.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(manager.apiVersion, identity);
    } else {
      moveToBucket(byIdentity, first, identity);
      left--;
    }
  }
  return [...byIdentity.values()].map(managerOf);
}

/** A manager and what fell into it. All is united at the end: one after the other would copy everything once for each. */
interface Bucket extends Manager {
  readonly gathered: FieldSet[];
}

function bucketOf(manager: Manager): Bucket {
  return { ...manager, gathered: [] };
}

function managerOf({ gathered, ...manager }: Bucket): Manager {
  return gathered.length === 0 ? manager : { ...manager, fields: unionOf([manager.fields, ...gathered]) };
}

/** By halves, so that large sets are copied few times. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [only, second] = sets;
  if (only === undefined || second === undefined) return only ?? {};
  const middle = sets.length >> 1;
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)));
}

function oldestFirst(byIdentity: ReadonlyMap<string, Bucket>): readonly (readonly [string, Bucket])[] {
  return [...byIdentity]
    .filter(([, { operation }]) => operation === 'Update')
    .sort(([a, older], [b, newer]) => compareTimes(older, newer) || compareUtf8(a, b));
}

/** The bucket begins as the oldest manager of the version, and is as old as the last one that fell into it. */
function moveToBucket(byIdentity: Map<string, Bucket>, first: string, identity: string): void {
  const manager = byIdentity.get(identity)!;
  const { apiVersion, time } = manager;
  const who = { name: bucketName, operation: 'Update', apiVersion, subresource: '', time } as const;
  const bucketIdentity = identityOf(who);
  const bucket = byIdentity.get(bucketIdentity) ?? byIdentity.get(first)!;
  if (!byIdentity.has(bucketIdentity)) byIdentity.delete(first);
  const { fields, gathered } = bucket;
  gathered.push(manager.fields, ...manager.gathered);
  byIdentity.set(bucketIdentity, { ...who, fields, gathered, entry: undefined });
  byIdentity.delete(identity);
}
