import { union } from './field-set.ts';
import { compareTimes, identityOf, type Manager } from './managers.ts';
import { compareTexts } from './path-element.ts';

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
  const byIdentity = new Map(managers.map((manager) => [identityOf(manager), manager]));
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
  return [...byIdentity.values()];
}

function oldestFirst(byIdentity: ReadonlyMap<string, Manager>): readonly (readonly [string, Manager])[] {
  return [...byIdentity]
    .filter(([, { operation }]) => operation === 'Update')
    .sort(([a, older], [b, newer]) => compareTimes(older, newer) || compareTexts(a, b));
}

/** The bucket begins as the oldest manager of the version, and is as old as the last one that fell into it. */
function moveToBucket(byIdentity: Map<string, Manager>, first: string, identity: string): void {
  const manager = byIdentity.get(identity)!;
  const { apiVersion, time } = manager;
  const who = { name: bucketName, operation: 'Update', apiVersion, subresource: '', time } as const;
  const bucketIdentity = identityOf(who);
  const bucket = byIdentity.get(bucketIdentity) ?? byIdentity.get(first)!;
  if (!byIdentity.has(bucketIdentity)) byIdentity.delete(first);
  byIdentity.set(bucketIdentity, { ...who, fields: union(manager.fields, bucket.fields), entry: undefined });
  byIdentity.delete(identity);
}
