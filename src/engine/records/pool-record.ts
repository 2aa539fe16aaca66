import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { compileLabelSelector } from '../../kube/selectors/label-selector.ts';
import { compileNodeSelector } from '../../kube/selectors/node-selector.ts';
import {
  type DriverCapacity,
  driverOfCapacity,
  type StoragePool,
} from '../../kube/stowage/driver-capacity.ts';
import { annotations, labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import type { DriveExclusion } from '../drives/drive-record.ts';
import type { FilesystemUser } from '../drives/shared-filesystems.ts';
import type { Size } from '../size.ts';
import type { BackingPool } from './backing-pool.ts';
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
export type PoolForm = 'CSIStorageCapacity' | 'DriverCapacity' | 'Drive';

/**
 * A capacity pool. The driver accounts for the usage of a published pool; the ledger of a Drive has its volumes. All code that uses this
 * record (lookup, joint accounting, expiry) is the same for all forms.
 */
export interface PoolRecord {
  /** Unique among all pools. */
  readonly key: string;
  /** The object that publishes the pool: a CSIStorageCapacity has one pool, a DriverCapacity many. */
  readonly source: string;
  /** The key of that object. */
  readonly object: string;
  readonly form: PoolForm;
  /** The version of the object with which the pool last changed: an update of other pools of the object keeps the record as it is. */
  readonly version: string;
  /** The name in messages. */
  readonly name: string;
  /** Undefined for a CSIStorageCapacity: its class determines the driver. */
  readonly driver: string | undefined;
  /** A class name, `<ephemeral>` or `<fallback>`; empty for a Drive, which serves every class that accepts it. */
  readonly storageClass: string;
  /** Pools with the same backing use the same disks: by the annotation of their class, or as their publisher says. */
  readonly backing: string;
  /** The backing as the publisher says. */
  readonly ownBacking: string;
  /** Bytes of the disks for each byte of the pool, in thousandths, as the class says. */
  readonly factorMilli?: number | undefined;
  /** Other pools may have the same backing. */
  readonly isShared: boolean;
  readonly nodes: NodeMatcher;
  /** The free capacity, if published. */
  readonly free: Size | undefined;
  /** The largest single volume, if published. */
  readonly largest: Size | undefined;
  /** The smallest volume that the driver creates, if published: smaller claims take as much. */
  readonly smallest?: Size | undefined;
  readonly expiresAtMs: number | undefined;
  /** The Lease that the publisher of the capacity reports renews, as `namespace/name`; undefined if it names none, as publishers of others. */
  readonly publisherLease?: string | undefined;
  /** When the driver was asked for the reports, by the publisher's clock; undefined if the publisher does not say. */
  readonly measuredAtMs: number | undefined;
  /** False if its DriverCapacity does not track capacity: then the pool is shown, but no volume is planned for it. */
  readonly isTracked: boolean;
  /** The pool as its DriverCapacity publishes it, to recognise an unchanged pool in the next version of the object. */
  readonly published: StoragePool | undefined;
  /** Set for a Drive. */
  readonly drive?: DriveFacts | undefined;
  readonly problems: readonly string[];
}

/** The fields of a Drive that other pools do not have. */
export interface DriveFacts {
  readonly tier: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Equal for drives with the same tier and labels. */
  readonly kindKey: string;
  readonly nodeName: string;
  /** Why it takes no new volumes, as far as the Drive says; undefined if it does. `PoolTable.exclusion` also knows its Node and the other Drives of its filesystem. */
  readonly exclusion: DriveExclusion | undefined;
  /** Decides which of several Drives with one filesystem counts. */
  readonly user: FilesystemUser;
  /** The claims whose volumes are in the ledger: keys by uid. A key is empty if the ledger does not say it. */
  readonly claims: ReadonlyMap<string, string>;
  /** The bytes of these volumes, by the uid of the claim. */
  readonly claimBytes: ReadonlyMap<string, number>;
  /** The pods whose inline volumes are in the ledger, by uid. */
  readonly pods: ReadonlyMap<string, DrivePod>;
  /** The groups of its volumes that are spread over drives. */
  readonly groups: ReadonlySet<string>;
  /** Zero if it is unknown. */
  readonly capacityBytes: number;
  /** The sum of the ledger. */
  readonly usedBytes: number;
}

/** The inline volumes of one pod on one drive. */
export interface DrivePod {
  readonly podKey: string;
  /** The size of each of them. */
  readonly sizes: readonly number[];
}

/** The part of a pool's class that identifies its disks. */
interface PoolClass {
  readonly provisioner: string;
  readonly backing: BackingPool | undefined;
}

export type ClassOfPool = (className: string) => PoolClass | undefined;

/**
 * The pool with the backing that its class says, or else its own. Pools of two classes are on the same disks if their classes have the same driver and the same
 * backing pool, and the same nodes reach them.
 */
export function withClassBacking(pool: PoolRecord, storageClass: PoolClass | undefined): PoolRecord {
  const shared = pool.drive === undefined ? storageClass?.backing : undefined;
  const backing =
    shared === undefined
      ? pool.ownBacking
      : `class ${storageClass?.provisioner} ${shared.name} ${pool.nodes.key}`;
  const factorMilli = shared?.factorMilli;
  if (backing === pool.backing && factorMilli === pool.factorMilli) return pool;
  return { ...pool, backing, factorMilli, isShared: backing !== pool.key };
}

export function readCapacity(
  capacity: CSIStorageCapacity,
  interner: Interner,
  classOf: ClassOfPool = () => undefined,
): PoolRecord {
  const pool = readOwnCapacity(capacity, interner);
  return withClassBacking(pool, classOf(pool.storageClass));
}

function readOwnCapacity(capacity: CSIStorageCapacity, interner: Interner): PoolRecord {
  const identity = namespacedIdentity(capacity);
  const problems: string[] = [];
  const source = capacityPoolKey(identity.key);
  const label = textOf(capacity.metadata?.labels?.[wellKnownLabels.backingPool]);
  const backing = label === '' ? source : `label ${label}`;
  return {
    key: source,
    source,
    object: identity.key,
    form: 'CSIStorageCapacity',
    version: identity.version,
    name: identity.key,
    driver: undefined,
    storageClass: interner.text(textOf(capacity.storageClassName)),
    backing,
    ownBacking: backing,
    isShared: label !== '',
    nodes: interner.matcher(nodesOfCapacity(capacity, problems)),
    free: sizeOrUndefined(capacity.capacity, 'capacity', problems),
    largest: sizeOrUndefined(capacity.maximumVolumeSize, 'maximumVolumeSize', problems),
    smallest: sizeOrUndefined(
      capacity.metadata?.annotations?.[annotations.minimumVolumeSize],
      `metadata.annotations[${annotations.minimumVolumeSize}]`,
      problems,
    ),
    expiresAtMs: undefined,
    publisherLease:
      interner.text(textOf(capacity.metadata?.annotations?.[annotations.publisherLease])) || undefined,
    measuredAtMs: measuredAtOf(
      capacity.metadata?.annotations?.[annotations.measuredAt],
      `metadata.annotations[${annotations.measuredAt}]`,
      problems,
    ),
    isTracked: true,
    published: undefined,
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

/** The pools of one DriverCapacity. Several objects may publish pools of one driver. */
export interface DriverPoolsRecord {
  /** The name of the object. */
  readonly key: string;
  readonly version: string;
  readonly driver: string;
  readonly tracksCapacity: boolean;
  /** Keyed by class and name. An entry without pools counts too: `<fallback>` is used only if no object has an entry for the class. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, PoolRecord>>;
  readonly problems: readonly string[];
}

/**
 * Reads the pools of an object. A pool that is published as in the version before keeps its record, so that an update costs what has
 * changed: reading a pool is far more expensive than comparing it.
 */
export function readDriverPools(
  object: DriverCapacity,
  interner: Interner,
  before?: DriverPoolsRecord,
  classOf: ClassOfPool = () => undefined,
): DriverPoolsRecord {
  const { key, version } = clusterIdentity(object);
  const tracksCapacity = object.spec?.capacityTracking === true;
  const driver = interner.text(driverOfCapacity(object));
  const known = before?.driver === driver && before.tracksCapacity === tracksCapacity ? before : undefined;
  const entries = new Map<string, Map<string, PoolRecord>>();
  const problems: string[] = [];
  for (const entry of nonNullItems(object.status?.storage)) {
    const storageClass = interner.text(textOf(entry.storageClassName));
    const pools = entries.get(storageClass) ?? new Map<string, PoolRecord>();
    entries.set(storageClass, pools);
    const knownPools = known?.entries.get(storageClass);
    const context = { object: key, driver, storageClass, version, tracksCapacity, interner };
    for (const pool of nonNullItems(entry.pools)) {
      const name = textOf(pool.name);
      const former = knownPools?.get(name);
      const isSame = former !== undefined && isSamePool(former.published, pool);
      const record = withClassBacking(isSame ? former : readPool(pool, name, context), classOf(storageClass));
      pools.set(name, record);
      if (record.problems.length > 0) problems.push(...record.problems);
    }
  }
  return { key, version, driver, tracksCapacity, entries, problems };
}

interface PoolContext {
  readonly object: string;
  readonly driver: string;
  readonly storageClass: string;
  readonly version: string;
  readonly tracksCapacity: boolean;
  readonly interner: Interner;
}

/** Sorts by driver, class and name. The object comes last: two objects with a pool of the same name have two reports for the same disks. */
function driverPoolKey({ driver, storageClass, object }: PoolContext, name: string): string {
  const key = `DriverCapacity ${driver} ${storageClass} ${name}`;
  return object === driver ? key : `${key} in ${object}`;
}

function isSamePool(before: StoragePool | undefined, after: StoragePool): boolean {
  if (before === undefined) return false;
  return (
    before.capacity === after.capacity &&
    before.minimumVolume === after.minimumVolume &&
    before.expiryTime === after.expiryTime &&
    before.measuredAt === after.measuredAt &&
    isSameList(before.nodeList, after.nodeList) &&
    (before.nodeTopology === after.nodeTopology ||
      JSON.stringify(before.nodeTopology) === JSON.stringify(after.nodeTopology))
  );
}

function isSameList(before: readonly string[] | undefined, after: readonly string[] | undefined): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return before === after;
  return before.length === after.length && before.every((name, position) => name === after[position]);
}

function readPool(pool: StoragePool, name: string, context: PoolContext): PoolRecord {
  const { object, driver, storageClass, version, tracksCapacity, interner } = context;
  const problems: string[] = [];
  const field = `status.storage[${storageClass}].pools[${name}]`;
  // The same name under two classes is the same pool with two sets of parameters.
  const backing = `pool ${driver} ${name}`;
  return {
    key: driverPoolKey(context, name),
    source: `DriverCapacity ${object}`,
    object,
    form: 'DriverCapacity',
    version,
    name,
    driver,
    storageClass,
    backing,
    ownBacking: backing,
    isShared: true,
    nodes: interner.matcher(nodesOfPool(pool, field, problems)),
    free: undefined,
    largest: sizeOrUndefined(pool.capacity, `${field}.capacity`, problems),
    smallest: sizeOrUndefined(pool.minimumVolume, `${field}.minimumVolume`, problems),
    expiresAtMs: expiryOf(pool, field, problems),
    measuredAtMs: measuredAtOf(pool.measuredAt, `${field}.measuredAt`, problems),
    isTracked: tracksCapacity,
    published: pool,
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

function measuredAtOf(value: unknown, field: string, problems: string[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  const measuredAtMs = parseTimestamp(value);
  if (measuredAtMs === undefined)
    problems.push(`${field}: must be an RFC 3339 time; until then the time of the measurement is unknown`);
  return measuredAtMs;
}
