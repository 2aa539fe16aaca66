import { ephemeralStorageClassName, fallbackStorageClassName } from '../../../kube/stowage.ts';
import type { ObjectChange } from '../../cluster-index/cluster-change.ts';
import { publishedCapacity } from '../../cluster-index/pools/pool-table.ts';
import type { DriverPoolsRecord, PoolRecord } from '../../records/pool-record.ts';
import { compareSizes } from '../../size.ts';
import type { Interest } from '../framework/rule.ts';

type DriverPoolsChange = ObjectChange<'DriverCapacity'>;

/**
 * Whether an update of a DriverCapacity could help the pod. Publishers update their pools all the time, mostly because a pool shrank or only
 * to renew its expiry, so this looks at the pools of the pod's classes: one must have grown, have become reachable from other nodes, or be
 * valid again after it was expired when the pod was refused.
 */
export function driverPoolsMayHelp(interest: Interest, change: DriverPoolsChange): boolean {
  const { before, after } = change;
  const driver = (after ?? before)!.key;
  if (!interest.drivers.has(driver)) return false;
  // Then other objects publish the driver's capacity, or none does.
  if (before === undefined || after?.tracksCapacity !== before.tracksCapacity) return true;
  const changes = poolChangesOf(change);
  const { refusedAtMs = Number.POSITIVE_INFINITY } = interest;
  return entriesOf(interest, driver).some((name) => {
    const entry = chosenEntry(after, name);
    if (entry !== chosenEntry(before, name)) return true;
    const found = entry === undefined ? undefined : changes.get(entry);
    return found !== undefined && (found.mayHaveGrown || found.renewedFromMs <= refusedAtMs);
  });
}

/** The classes that the pod's volumes of the driver have; `<ephemeral>` for inline volumes. */
function entriesOf({ classes, pod }: Interest, driver: string): readonly string[] {
  const isInline = pod.inlineVolumes.some((volume) => volume.driver === driver);
  return isInline ? [...classes.keys(), ephemeralStorageClassName] : [...classes.keys()];
}

function chosenEntry({ entries }: DriverPoolsRecord, storageClass: string): string | undefined {
  if (entries.has(storageClass)) return storageClass;
  return entries.has(fallbackStorageClassName) ? fallbackStorageClassName : undefined;
}

/** The changes in the pools of one entry. */
interface PoolChanges {
  readonly mayHaveGrown: boolean;
  /** The earliest time at which a pool had expired that is valid for longer now; infinity if there is none. */
  readonly renewedFromMs: number;
}

/** Computed once for each change, because every waiting pod asks for it. */
const known = new WeakMap<DriverPoolsChange, ReadonlyMap<string, PoolChanges>>();

function poolChangesOf(change: DriverPoolsChange): ReadonlyMap<string, PoolChanges> {
  const found = known.get(change);
  if (found !== undefined) return found;
  const changes = comparePools(change.before?.entries ?? noEntries, change.after?.entries ?? noEntries);
  known.set(change, changes);
  return changes;
}

type Entries = DriverPoolsRecord['entries'];

const noEntries: Entries = new Map();

function comparePools(before: Entries, after: Entries): ReadonlyMap<string, PoolChanges> {
  const old = new Map([...before.values()].flat().map((pool) => [pool.key, pool]));
  const cheaper = cheaperBackings(old, after);
  const changes = new Map<string, PoolChanges>();
  for (const [name, pools] of after) {
    let mayHaveGrown = false;
    let renewedFromMs = Number.POSITIVE_INFINITY;
    for (const pool of pools) {
      const former = old.get(pool.key);
      mayHaveGrown ||= former === undefined || hasGrown(former, pool) || cheaper.has(pool.backing);
      if (former !== undefined && expiryOf(pool) > expiryOf(former))
        renewedFromMs = Math.min(renewedFromMs, expiryOf(former));
    }
    changes.set(name, { mayHaveGrown, renewedFromMs });
  }
  return changes;
}

/**
 * Disks that several classes share, where promises of one class may cost the others less: its pool grew, or its figure no longer counts
 * because the pool has gone or publishes nothing.
 */
function cheaperBackings(old: ReadonlyMap<string, PoolRecord>, after: Entries): ReadonlySet<string> {
  const pools = new Map([...after.values()].flat().map((pool) => [pool.key, pool]));
  const cheaper = new Set<string>();
  for (const former of old.values()) {
    const pool = pools.get(former.key);
    if (pool === undefined || hasGrown(former, pool) || isEmptied(former, pool)) cheaper.add(former.backing);
  }
  return cheaper;
}

function hasGrown(former: PoolRecord, pool: PoolRecord): boolean {
  if (former.nodes.key !== pool.nodes.key) return true;
  if (former.largest === undefined || pool.largest === undefined) return former.largest !== pool.largest;
  return compareSizes(pool.largest, former.largest) > 0;
}

function isEmptied(former: PoolRecord, pool: PoolRecord): boolean {
  return publishedCapacity(pool).bytes <= 0 && publishedCapacity(former).bytes > 0;
}

function expiryOf({ expiresAtMs }: PoolRecord): number {
  return expiresAtMs ?? Number.POSITIVE_INFINITY;
}
