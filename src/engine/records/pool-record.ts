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

/** The kind of object that publishes the pool. */
export type PoolForm = 'CSIStorageCapacity' | 'DriverCapacity';

/**
 * A capacity pool whose usage its driver accounts for. All code that uses this record (lookup, joint accounting, expiry) is the same
 * for both forms.
 */
export interface PoolRecord {
  /** Unique among all pools. */
  readonly key: string;
  /** The object that publishes the pool: a CSIStorageCapacity has one pool, a DriverCapacity many. */
  readonly source: string;
  readonly form: PoolForm;
  readonly version: string;
  /** The name in messages. */
  readonly name: string;
  /** Undefined for a CSIStorageCapacity: its class determines the driver. */
  readonly driver: string | undefined;
  /** A class name, `<ephemeral>` or `<fallback>`. */
  readonly storageClass: string;
  /** Pools with the same backing use the same disks. */
  readonly backing: string;
  /** Other pools may have the same backing. */
  readonly isShared: boolean;
  readonly nodes: NodeMatcher;
  /** The free capacity, if published. */
  readonly free: Size | undefined;
  /** The largest single volume, if published. */
  readonly largest: Size | undefined;
  readonly expiresAtMs: number | undefined;
  readonly problems: readonly string[];
}

export function readCapacity(capacity: CSIStorageCapacity, interner: Interner): PoolRecord {
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
    storageClass: interner.text(textOf(capacity.storageClassName)),
    backing: backing === '' ? source : `label ${backing}`,
    isShared: backing !== '',
    nodes: interner.matcher(nodesOfCapacity(capacity, problems)),
    free: sizeOrUndefined(capacity.capacity, 'capacity', problems),
    largest: sizeOrUndefined(capacity.maximumVolumeSize, 'maximumVolumeSize', problems),
    expiresAtMs: undefined,
    problems,
  };
}

/** The pool key of a CSIStorageCapacity. The prefix distinguishes it from the pools of a DriverCapacity. */
export function capacityPoolKey(objectKey: string): string {
  return `CSIStorageCapacity ${objectKey}`;
}

/** Without a selector no node reaches the pool, with an empty one every node does. In a DriverCapacity it is the opposite. */
function nodesOfCapacity(capacity: CSIStorageCapacity, problems: string[]): NodeMatcher {
  if (capacity.nodeTopology === undefined || capacity.nodeTopology === null) return noNode;
  const compiled = compileLabelSelector(capacity.nodeTopology, 'nodeTopology');
  if (compiled.ok) return matcherOfLabels(compiled.selector);
  problems.push(compiled.problem);
  return noNode;
}

/** The pools of one DriverCapacity. */
export interface DriverPoolsRecord {
  /** The driver's name. */
  readonly key: string;
  readonly version: string;
  readonly tracksCapacity: boolean;
  /** Pools by class. `<fallback>` is used only if the class has no entry; an entry without free pools still counts. */
  readonly entries: ReadonlyMap<string, readonly PoolRecord[]>;
  readonly problems: readonly string[];
}

export function readDriverPools(object: DriverCapacity, interner: Interner): DriverPoolsRecord {
  const { key, version } = clusterIdentity(object);
  const driver = interner.text(key);
  const entries = new Map<string, readonly PoolRecord[]>();
  for (const entry of nonNullItems(object.status?.storage)) {
    const storageClass = interner.text(textOf(entry.storageClassName));
    const pools = nonNullItems(entry.pools).map((pool) =>
      readPool(pool, { driver, storageClass, version, interner }),
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
  readonly interner: Interner;
}

function readPool(pool: StoragePool, { driver, storageClass, version, interner }: PoolContext): PoolRecord {
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
    // The same name under two classes is the same pool with two sets of parameters.
    backing: `pool ${driver} ${name}`,
    isShared: true,
    nodes: interner.matcher(nodesOfPool(pool, field, problems)),
    free: undefined,
    largest: sizeOrUndefined(pool.capacity, `${field}.capacity`, problems),
    expiresAtMs: expiryOf(pool, field, problems),
    problems,
  };
}

function nodesOfPool(pool: StoragePool, field: string, problems: string[]): NodeMatcher {
  const hasTopology = pool.nodeTopology !== undefined && pool.nodeTopology !== null;
  const hasList = Array.isArray(pool.nodeList);
  if (hasTopology && hasList) {
    problems.push(
      `${field}: has both nodeTopology and nodeList; remove one of them; until then no node reaches this pool`,
    );
    return noNode;
  }
  if (hasList) return matcherOfNames(nonNullItems(pool.nodeList).map(textOf));
  if (!hasTopology) return everyNode;
  const selector = compileNodeSelector(pool.nodeTopology, `${field}.nodeTopology`);
  problems.push(...selector.problems);
  return matcherOfSelector(selector);
}

function sizeOrUndefined(value: unknown, field: string, problems: string[]): Size | undefined {
  const reading = readSize(value, field);
  if (reading.kind === 'invalid') problems.push(reading.problem);
  return reading.kind === 'size' ? reading.size : undefined;
}

function expiryOf(pool: StoragePool, field: string, problems: string[]): number | undefined {
  if (pool.expiryTime === undefined || pool.expiryTime === null) return undefined;
  const expiresAtMs = parseTimestamp(pool.expiryTime);
  if (expiresAtMs !== undefined) return expiresAtMs;
  problems.push(`${field}.expiryTime: must be an RFC 3339 time; until then the pool counts as expired`);
  return Number.NEGATIVE_INFINITY;
}
