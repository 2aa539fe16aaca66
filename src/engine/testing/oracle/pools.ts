import type { Node, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { compileNodeSelector, matchesNode } from '../../../kube/selectors/node-selector.ts';
import {
  type DriverCapacity,
  ephemeralStorageClassName,
  fallbackStorageClassName,
  type StoragePool,
} from '../../../kube/stowage/driver-capacity.ts';
import { claimClassName, isFullyBound } from '../../../kube/volumes.ts';
import { annotations, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import {
  nanoBytes,
  type OracleCluster,
  objectKey,
  objectName,
  requestOf,
  selectedNodeOf,
} from './cluster.ts';

/** A published capacity pool. Sizes are in billionths of a byte. */
export interface OraclePool {
  readonly key: string;
  readonly name: string;
  /** A class, `<ephemeral>` or `<fallback>`. */
  readonly storageClass: string;
  /** Pools with the same backing use the same disks. */
  readonly backing: string;
  readonly published: bigint;
  /** The largest single volume; undefined if the pool provisions none. */
  readonly limit: bigint | undefined;
  readonly expiresAtMs: number | undefined;
  isReachedFrom(node: Node): boolean;
}

/** The pools for volumes of a class; undefined if the driver publishes no capacity, so that any size fits. */
export function poolsFor(
  cluster: OracleCluster,
  driver: string,
  className: string,
): OraclePool[] | undefined {
  const isTracked = cluster.driver(driver)?.spec?.storageCapacity === true;
  const own = trackingObjects(cluster, driver);
  // kube-scheduler doesn't know DriverCapacity. If a driver publishes both forms, DriverCapacity counts, never the sum; except that
  // pools for inline volumes alone say nothing about classes.
  const names = new Set(
    own.flatMap(({ status }) => (status?.storage ?? []).map((entry) => entry.storageClassName)),
  );
  const isInlineOnly =
    names.size === 1 && names.has(ephemeralStorageClassName) && className !== ephemeralStorageClassName;
  if (!cluster.isUpstream && own.length > 0 && !(isTracked && isInlineOnly))
    return poolsOfDriver(own, className);
  return isTracked ? capacityPools(cluster).filter((pool) => pool.storageClass === className) : undefined;
}

/** The objects that carry pools of the driver, without those that do not track capacity. */
function trackingObjects(cluster: OracleCluster, driver: string): DriverCapacity[] {
  const all = cluster.objects.DriverCapacity ?? [];
  return all.filter((object) => object.spec?.capacityTracking === true && driverOf(object) === driver);
}

function driverOf(object: DriverCapacity): string {
  return object.spec?.driver ?? objectName(object);
}

/** The entries of the class, or the `<fallback>` entries only if the class has none. */
function poolsOfDriver(own: readonly DriverCapacity[], className: string): OraclePool[] {
  const entries = own.flatMap((object) => object.status?.storage ?? []);
  const wanted = entries.some((entry) => entry.storageClassName === className)
    ? className
    : fallbackStorageClassName;
  return own
    .flatMap(driverPools)
    .filter((pool) => pool.storageClass === wanted)
    .sort(byKey);
}

function allPools(cluster: OracleCluster): OraclePool[] {
  return [...capacityPools(cluster), ...(cluster.objects.DriverCapacity ?? []).flatMap(driverPools)];
}

function capacityPools(cluster: OracleCluster): OraclePool[] {
  return (cluster.objects.CSIStorageCapacity ?? []).map(poolOfCapacity).sort(byKey);
}

function poolOfCapacity(capacity: CSIStorageCapacity): OraclePool {
  const key = `CSIStorageCapacity ${objectKey(capacity)}`;
  const backing = capacity.metadata?.labels?.[wellKnownLabels.backingPool] ?? '';
  const free = nanoBytes(capacity.capacity);
  const largest = nanoBytes(capacity.maximumVolumeSize);
  // An absent selector selects no node, an empty one every node.
  const selector = compileLabelSelector(capacity.nodeTopology, 'nodeTopology', 'nothing');
  return {
    key,
    name: objectKey(capacity),
    storageClass: capacity.storageClassName ?? '',
    backing: backing === '' ? key : `label ${backing}`,
    published: free ?? largest ?? 0n,
    limit: largest ?? free,
    expiresAtMs: undefined,
    isReachedFrom: (node) => selector.ok && matchesLabels(selector.selector, node.metadata?.labels),
  };
}

function driverPools(own: DriverCapacity): OraclePool[] {
  const pools = (own.status?.storage ?? []).flatMap((entry) =>
    (entry.pools ?? []).map((pool) => poolOfDriver(own, entry.storageClassName ?? '', pool)),
  );
  return pools.sort(byKey);
}

function poolOfDriver(own: DriverCapacity, storageClass: string, pool: StoragePool): OraclePool {
  const size = nanoBytes(pool.capacity);
  const driver = driverOf(own);
  const shard = objectName(own) === driver ? '' : ` in ${objectName(own)}`;
  return {
    key: `DriverCapacity ${driver} ${storageClass} ${pool.name ?? ''}${shard}`,
    name: pool.name ?? '',
    storageClass,
    // One name under two classes is one pool, seen with two sets of parameters.
    backing: `pool ${driver} ${pool.name ?? ''}`,
    published: size ?? 0n,
    limit: size,
    expiresAtMs: pool.expiryTime === undefined ? undefined : Date.parse(pool.expiryTime),
    isReachedFrom: (node) => poolReaches(pool, node),
  };
}

/** Without a selector every node reaches the pool. With both a selector and a list no node does. */
function poolReaches({ nodeTopology, nodeList }: StoragePool, node: Node): boolean {
  if (nodeTopology !== undefined && nodeList !== undefined) return false;
  if (nodeList !== undefined) return nodeList.includes(objectName(node));
  if (nodeTopology === undefined) return true;
  return matchesNode(compileNodeSelector(nodeTopology), objectName(node), node.metadata?.labels);
}

function byKey(a: OraclePool, b: OraclePool): number {
  return a.key < b.key ? -1 : 1;
}

// ── Available capacity ──

/** Whether the pool can provision one volume of this size, apart from the pod's other volumes. */
export function canProvisionIn(
  cluster: OracleCluster,
  pool: OraclePool,
  driver: string,
  size: bigint,
): boolean {
  if (pool.limit === undefined || pool.limit < size) return false;
  if (pool.expiresAtMs !== undefined && !(cluster.nowMs < pool.expiresAtMs)) return false;
  switch (cluster.inFlight(driver)) {
    case 'off':
      return true;
    case 'one-at-a-time':
      return !allPools(cluster).some(
        (other) => other.backing === pool.backing && promisesOf(cluster, other).length > 0,
      );
    case 'linear':
      return availableIn(cluster, pool) >= size;
  }
}

/** A new volume of the pod, in a pool. */
export interface NewVolume {
  readonly pool: OraclePool;
  readonly driver: string;
  readonly size: bigint;
}

/** Whether the pools can provision all volumes together: in each pool, the pod's volumes on its disks, in that pool's bytes, must not exceed the available capacity. */
export function canProvisionAll(cluster: OracleCluster, newVolumes: readonly NewVolume[]): boolean {
  const counted = newVolumes.filter(({ driver }) => cluster.inFlight(driver) !== 'off');
  return counted.every(({ pool }) => {
    let needed = 0n;
    for (const other of new Map(counted.map((newVolume) => [newVolume.pool.key, newVolume.pool])).values()) {
      if (other.backing !== pool.backing) continue;
      const sizes = counted.filter((newVolume) => newVolume.pool.key === other.key);
      needed += convert(sum(sizes.map(({ size }) => size)), other, pool);
    }
    return needed <= availableIn(cluster, pool);
  });
}

/** The published capacity less all promises on the same disks. May be negative. */
function availableIn(cluster: OracleCluster, pool: OraclePool): bigint {
  let available = pool.published;
  for (const other of allPools(cluster)) {
    if (other.backing === pool.backing) available -= convert(sum(promisesOf(cluster, other)), other, pool);
  }
  return available;
}

/** The sizes of the claims that are being provisioned from this pool. */
function promisesOf(cluster: OracleCluster, pool: OraclePool): bigint[] {
  return (cluster.objects.PersistentVolumeClaim ?? [])
    .filter((claim) => promisedPool(cluster, claim)?.key === pool.key)
    .map((claim) => requestOf(claim) ?? 0n);
}

/** The pool that the claim names, else the first, among those that the selected node reaches. */
function promisedPool(cluster: OracleCluster, claim: PersistentVolumeClaim): OraclePool | undefined {
  const node = cluster.node(selectedNodeOf(claim) ?? '');
  const storageClass = cluster.classOf(claim);
  if (node === undefined || storageClass === undefined || isFullyBound(claim)) return undefined;
  const pools = poolsFor(cluster, storageClass.provisioner ?? '', claimClassName(claim)) ?? [];
  const reached = pools.filter((pool) => pool.isReachedFrom(node));
  const hint = claim.metadata?.annotations?.[annotations.pool];
  return reached.find((pool) => pool.name === hint) ?? reached[0];
}

/** Converts bytes of one pool to bytes of another on the same disks, by the ratio of their published capacities, rounded up to whole bytes. */
function convert(size: bigint, from: OraclePool, to: OraclePool): bigint {
  if (from.key === to.key || size === 0n || from.published <= 0n || from.published === to.published)
    return size;
  const divisor = from.published * nanoPerByte;
  return ((size * to.published + divisor - 1n) / divisor) * nanoPerByte;
}

const nanoPerByte = 1_000_000_000n;

function sum(sizes: readonly bigint[]): bigint {
  return sizes.reduce((total, size) => total + size, 0n);
}

// ── Inline volumes ──

export interface OracleInlineVolume {
  readonly volumeName: string;
  readonly driver: string;
  /** The size as written in the pod. */
  readonly text: unknown;
}

/** Inline CSI volumes that state a size. */
export function inlineSizes(pod: Pod): OracleInlineVolume[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name = '', csi }) => {
    const text = csi?.fsSize ?? (csi?.volumeAttributes?.['csi.storage.k8s.io/size'] || undefined);
    return text === undefined ? [] : [{ volumeName: name, driver: csi?.driver ?? '', text }];
  });
}

/** Only a DriverCapacity can publish capacity for volumes without a class. */
export function inlinePools(cluster: OracleCluster, driver: string): OraclePool[] | undefined {
  return trackingObjects(cluster, driver).length > 0
    ? poolsFor(cluster, driver, ephemeralStorageClassName)
    : undefined;
}
