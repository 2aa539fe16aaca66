import type { Node, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { compileNodeSelector, matchesNode } from '../../../kube/selectors/node-selector.ts';
import {
  type DriverCapacity,
  ephemeralStorageClassName,
  fallbackStorageClassName,
  type StoragePool,
} from '../../../kube/stowage.ts';
import { claimClassName, isFullyBound } from '../../../kube/volumes.ts';
import { annotations, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { keyOf, nameOf, nanoBytes, type OracleCluster, requestOf, selectedNodeOf } from './cluster.ts';

/** Room that somebody else keeps the books of, as published. Sizes in billionths of a byte. */
export interface OraclePool {
  readonly key: string;
  readonly name: string;
  /** A class, `<ephemeral>` or `<fallback>`. */
  readonly storageClass: string;
  /** Pools of one backing draw on the same disks. */
  readonly backing: string;
  readonly published: bigint;
  /** The largest single volume; undefined: it makes none. */
  readonly limit: bigint | undefined;
  readonly expiresAtMs: number | undefined;
  isReachedFrom(node: Node): boolean;
}

/** The pools that volumes of a class come from; undefined where nobody keeps books and any size fits. */
export function poolsFor(
  cluster: OracleCluster,
  driver: string,
  className: string,
): OraclePool[] | undefined {
  const isTracked = cluster.driver(driver)?.spec?.storageCapacity === true;
  const own = cluster.objects.DriverCapacity?.find((candidate) => nameOf(candidate) === driver);
  // kube-scheduler does not know our own kind; where a driver publishes both, the richer form counts, never the sum.
  if (!cluster.isUpstream && own?.spec?.capacityTracking === true) return poolsOfDriver(own, className);
  return isTracked ? capacityPools(cluster).filter((pool) => pool.storageClass === className) : undefined;
}

/** The class's own entry, or, only if there is none, what the driver says of all others. */
function poolsOfDriver(own: DriverCapacity, className: string): OraclePool[] {
  const entries = own.status?.storage ?? [];
  const wanted = entries.some((entry) => entry.storageClassName === className)
    ? className
    : fallbackStorageClassName;
  return driverPools(own).filter((pool) => pool.storageClass === wanted);
}

function allPools(cluster: OracleCluster): OraclePool[] {
  return [...capacityPools(cluster), ...(cluster.objects.DriverCapacity ?? []).flatMap(driverPools)];
}

function capacityPools(cluster: OracleCluster): OraclePool[] {
  return (cluster.objects.CSIStorageCapacity ?? []).map(poolOfCapacity).sort(byKey);
}

function poolOfCapacity(capacity: CSIStorageCapacity): OraclePool {
  const key = `CSIStorageCapacity ${keyOf(capacity)}`;
  const backing = capacity.metadata?.labels?.[wellKnownLabels.backingPool] ?? '';
  const free = nanoBytes(capacity.capacity);
  const largest = nanoBytes(capacity.maximumVolumeSize);
  // An absent selector selects no node, an empty one every node.
  const selector = compileLabelSelector(capacity.nodeTopology, 'nodeTopology', 'nothing');
  return {
    key,
    name: keyOf(capacity),
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
    (entry.pools ?? []).map((pool) => poolOfDriver(nameOf(own), entry.storageClassName ?? '', pool)),
  );
  return pools.sort(byKey);
}

function poolOfDriver(driver: string, storageClass: string, pool: StoragePool): OraclePool {
  const size = nanoBytes(pool.capacity);
  return {
    key: `DriverCapacity ${driver} ${storageClass} ${pool.name ?? ''}`,
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

/** Here an absent selector means every node; both ways of saying it at once mean none. */
function poolReaches({ nodeTopology, nodeList }: StoragePool, node: Node): boolean {
  if (nodeTopology !== undefined && nodeList !== undefined) return false;
  if (nodeList !== undefined) return nodeList.includes(nameOf(node));
  if (nodeTopology === undefined) return true;
  return matchesNode(compileNodeSelector(nodeTopology), nameOf(node), node.metadata?.labels);
}

function byKey(a: OraclePool, b: OraclePool): number {
  return a.key < b.key ? -1 : 1;
}

// ── What is left of it ──

/** Whether the pool would make one volume of this size, had the pod no others. */
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

/** A new volume of the pod. */
export interface NewVolume {
  readonly pool: OraclePool;
  readonly driver: string;
  readonly size: bigint;
}

/** All at once: in each pool, what the pod takes of its disks, in that pool's own bytes, must not exceed what is left. */
export function canProvisionAll(cluster: OracleCluster, takings: readonly NewVolume[]): boolean {
  const counted = takings.filter(({ driver }) => cluster.inFlight(driver) !== 'off');
  return counted.every(({ pool }) => {
    let needed = 0n;
    for (const other of new Map(counted.map((taking) => [taking.pool.key, taking.pool])).values()) {
      if (other.backing !== pool.backing) continue;
      const taken = counted.filter((taking) => taking.pool.key === other.key);
      needed += convert(sum(taken.map(({ size }) => size)), other, pool);
    }
    return needed <= availableIn(cluster, pool);
  });
}

/** What is published less every promise on the same disks. May be negative. */
function availableIn(cluster: OracleCluster, pool: OraclePool): bigint {
  let room = pool.published;
  for (const other of allPools(cluster)) {
    if (other.backing === pool.backing) room -= convert(sum(promisesOf(cluster, other)), other, pool);
  }
  return room;
}

/** Claims that are being provisioned and will take from this pool, each with its size. */
function promisesOf(cluster: OracleCluster, pool: OraclePool): bigint[] {
  return (cluster.objects.PersistentVolumeClaim ?? [])
    .filter((claim) => promisedPool(cluster, claim)?.key === pool.key)
    .map((claim) => requestOf(claim) ?? 0n);
}

/** Of the pools that the selected node reaches the one that the claim names, else the first. */
function promisedPool(cluster: OracleCluster, claim: PersistentVolumeClaim): OraclePool | undefined {
  const node = cluster.node(selectedNodeOf(claim) ?? '');
  const storageClass = cluster.classOf(claim);
  if (node === undefined || storageClass === undefined || isFullyBound(claim)) return undefined;
  const pools = poolsFor(cluster, storageClass.provisioner ?? '', claimClassName(claim)) ?? [];
  const reached = pools.filter((pool) => pool.isReachedFrom(node));
  const hint = claim.metadata?.annotations?.[annotations.pool];
  return reached.find((pool) => pool.name === hint) ?? reached[0];
}

/** Bytes of one pool in those of another on the same disks, by the ratio of what they publish; whole bytes, rounded up. */
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
  /** As it is written. */
  readonly text: unknown;
}

/** Inline CSI volumes that state a size. */
export function inlineSizes(pod: Pod): OracleInlineVolume[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name = '', csi }) => {
    const text = csi?.fsSize ?? (csi?.volumeAttributes?.['csi.storage.k8s.io/size'] || undefined);
    return text === undefined ? [] : [{ volumeName: name, driver: csi?.driver ?? '', text }];
  });
}

/** Only our own form of publishing speaks of volumes without a class. */
export function inlinePools(cluster: OracleCluster, driver: string): OraclePool[] | undefined {
  const own = cluster.objects.DriverCapacity?.find((candidate) => nameOf(candidate) === driver);
  return own?.spec?.capacityTracking === true
    ? poolsFor(cluster, driver, ephemeralStorageClassName)
    : undefined;
}
