import { compareUtf8 } from '../../kube/sorted-keys.ts';
import { type FieldSet, unionAll } from './field-set.ts';
import { compareTimes, identityOf, type Manager } from './managers.ts';

/** The limit for managers with operation Update, per object. */
const updatersMax = 10;
const bucketName = 'ancient-changes';

/** Limits the list: the oldest updaters of a version are merged into one. Appliers stay, whatever their number. */
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

/**
 * A manager and the field sets merged into it. The union is computed at the end: one set after the other would copy
 * everything once per set.
 */
interface Bucket extends Manager {
  readonly mergedSets: FieldSet[];
}

function bucketOf(manager: Manager): Bucket {
  return { ...manager, mergedSets: [] };
}

function managerOf({ mergedSets, ...manager }: Bucket): Manager {
  return mergedSets.length === 0
    ? manager
    : { ...manager, fields: unionAll([manager.fields, ...mergedSets]) };
}

function oldestFirst(byIdentity: ReadonlyMap<string, Bucket>): readonly (readonly [string, Bucket])[] {
  return [...byIdentity]
    .filter(([, { operation }]) => operation === 'Update')
    .sort(([a, older], [b, newer]) => compareTimes(older, newer) || compareUtf8(a, b));
}

/** The bucket starts as the oldest manager of the version, and has the time of the last one that was merged into it. */
function moveToBucket(byIdentity: Map<string, Bucket>, first: string, identity: string): void {
  const manager = byIdentity.get(identity)!;
  const { apiVersion, time } = manager;
  const who = { name: bucketName, operation: 'Update', apiVersion, subresource: '', time } as const;
  const bucketIdentity = identityOf(who);
  const bucket = byIdentity.get(bucketIdentity) ?? byIdentity.get(first)!;
  if (!byIdentity.has(bucketIdentity)) byIdentity.delete(first);
  const { fields, mergedSets } = bucket;
  mergedSets.push(manager.fields, ...manager.mergedSets);
  byIdentity.set(bucketIdentity, { ...who, fields, mergedSets, entry: undefined });
  byIdentity.delete(identity);
}
