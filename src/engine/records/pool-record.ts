import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { compileLabelSelector } from '../../kube/selectors/label-selector.ts';
import { compileNodeSelector } from '../../kube/selectors/node-selector.ts';
import type { DriverCapacity, StoragePool } from '../../kube/stowage.ts';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import type { Size } from '../size.ts';
import { nonNullItems, readSize } from './field-readers.ts';
import { clusterIdentity, namespacedIdentity } from './identity.ts';
import type { Interner } from './interner.ts';
import {
  everyNode,
  matcherOfLabels,
  matcherOfNames,
  matcherOfSelector,
  type NodeMatcher,
  noNode,
} from './node-matcher.ts';

/** Where a pool was published: as today's CSIStorageCapacity, or as an entry of a driver's own capacity object. */
export type PoolForm = 'CSIStorageCapacity' | 'DriverCapacity';

/**
 * One pool that somebody else keeps the books of, whatever it was published as. Everything behind this record (lookup,
 * joint accounting, expiry) is the same for both forms.
 */
export interface PoolRecord {
  /** Unique among all pools. */
  readonly key: string;
  /** The object it stands in: one CSIStorageCapacity has one pool, one DriverCapacity many. */
  readonly source: string;
  readonly form: PoolForm;
  readonly version: string;
  /** What people call it. */
  readonly name: string;
  /** Unset for a CSIStorageCapacity: its class says which driver it belongs to. */
  readonly driver: string | undefined;
  /** A class name, `<ephemeral>` or `<fallback>`. */
  readonly storageClass: string;
  /** Pools with the same backing draw on the same disks. */
  readonly backing: string;
  /** Its backing may be another pool's too. */
  readonly isShared: boolean;
  readonly nodes: NodeMatcher;
  /** Bytes left, if published. */
  readonly free: Size | undefined;
  /** The largest single volume, if published. */
  readonly largest: Size | undefined;
  readonly expiresAtMs: number | undefined;
  readonly problems: readonly string[];
}

export function readCapacity(capacity: CSIStorageCapacity, interning: Interner): PoolRecord {
  const identity = namespacedIdentity(capacity);
  const problems: string[] = [];
  const source = capacityPoolKey(identity.key);
  const backing = textOf(capacity.metadata?.labels?.[wellKnownLabels.backingPool]);
  return {
    key: source,
    source,
    form: 'CSIStorageCapacity',
    version: identity.version,
    name: identity.key,
    driver: undefined,
    storageClass: interning.text(textOf(capacity.storageClassName)),
    backing: backing === '' ? source : `label ${backing}`,
    isShared: backing !== '',
    nodes: interning.matcher(nodesOfCapacity(capacity, problems)),
    free: sizeOrNothing(capacity.capacity, 'capacity', problems),
    largest: sizeOrNothing(capacity.maximumVolumeSize, 'maximumVolumeSize', problems),
    expiresAtMs: undefined,
    problems,
  };
}

/** Pools of both forms are known by one kind of key, so that of a CSIStorageCapacity says which it is. */
export function capacityPoolKey(objectKey: string): string {
  return `CSIStorageCapacity ${objectKey}`;
}

/** An absent selector reaches no node and an empty one every node: the opposite of a DriverCapacity's pool. */
function nodesOfCapacity(capacity: CSIStorageCapacity, problems: string[]): NodeMatcher {
  if (capacity.nodeTopology === undefined || capacity.nodeTopology === null) return noNode;
  const compiled = compileLabelSelector(capacity.nodeTopology, 'nodeTopology');
  if (compiled.ok) return matcherOfLabels(compiled.selector);
  problems.push(compiled.problem);
  return noNode;
}

/** All that one driver publishes about itself. */
export interface DriverPoolsRecord {
  /** The driver's name. */
  readonly key: string;
  readonly version: string;
  readonly tracksCapacity: boolean;
  /** By class. An entry counts by being there, also when its pools are used up: only then `<fallback>` is not asked. */
  readonly entries: ReadonlyMap<string, readonly PoolRecord[]>;
  readonly problems: readonly string[];
}

export function readDriverPools(object: DriverCapacity, interning: Interner): DriverPoolsRecord {
  const { key, version } = clusterIdentity(object);
  const driver = interning.text(key);
  const entries = new Map<string, readonly PoolRecord[]>();
  for (const entry of nonNullItems(object.status?.storage)) {
    const storageClass = interning.text(textOf(entry.storageClassName));
    const pools = nonNullItems(entry.pools).map((pool) =>
      readPool(pool, { driver, storageClass, version, interning }),
    );
    entries.set(storageClass, [...(entries.get(storageClass) ?? []), ...pools]);
  }
  return {
    key,
    version,
    tracksCapacity: object.spec?.capacityTracking === true,
    entries,
    problems: [...entries.values()].flat().flatMap((pool) => pool.problems),
  };
}

interface PoolContext {
  readonly driver: string;
  readonly storageClass: string;
  readonly version: string;
  readonly interning: Interner;
}

function readPool(pool: StoragePool, { driver, storageClass, version, interning }: PoolContext): PoolRecord {
  const problems: string[] = [];
  const name = textOf(pool.name);
  const field = `status.storage[${storageClass}].pools[${name}]`;
  return {
    key: `DriverCapacity ${driver} ${storageClass} ${name}`,
    source: `DriverCapacity ${driver}`,
    form: 'DriverCapacity',
    version,
    name,
    driver,
    storageClass,
    // The same name under two classes is the same pool, seen with two sets of parameters.
    backing: `pool ${driver} ${name}`,
    isShared: true,
    nodes: interning.matcher(nodesOfPool(pool, field, problems)),
    free: undefined,
    largest: sizeOrNothing(pool.capacity, `${field}.capacity`, problems),
    expiresAtMs: expiryOf(pool, field, problems),
    problems,
  };
}

function nodesOfPool(pool: StoragePool, field: string, problems: string[]): NodeMatcher {
  const hasTopology = pool.nodeTopology !== undefined && pool.nodeTopology !== null;
  const hasList = Array.isArray(pool.nodeList);
  if (hasTopology && hasList) {
    problems.push(
      `${field}: has both nodeTopology and nodeList; remove one, until then no node reaches this pool`,
    );
    return noNode;
  }
  if (hasList) return matcherOfNames(nonNullItems(pool.nodeList).map(textOf));
  if (!hasTopology) return everyNode;
  const selector = compileNodeSelector(pool.nodeTopology, `${field}.nodeTopology`);
  problems.push(...selector.problems);
  return matcherOfSelector(selector);
}

function sizeOrNothing(value: unknown, field: string, problems: string[]): Size | undefined {
  const reading = readSize(value, field);
  if (reading.kind === 'bad') problems.push(reading.problem);
  return reading.kind === 'size' ? reading.size : undefined;
}

function expiryOf(pool: StoragePool, field: string, problems: string[]): number | undefined {
  if (pool.expiryTime === undefined || pool.expiryTime === null) return undefined;
  const expiresAtMs = parseTimestamp(pool.expiryTime);
  if (expiresAtMs !== undefined) return expiresAtMs;
  problems.push(`${field}.expiryTime: is not an RFC 3339 time; the pool counts as expired until it is`);
  return Number.NEGATIVE_INFINITY;
}
