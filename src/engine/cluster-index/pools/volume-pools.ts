import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { compareSizes, type Size, zeroSize } from '../../size.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { Profile } from '../profile.ts';
import type { VolumeTable } from '../volumes/volume-table.ts';
import { lookUpPools, type PoolLookup } from './pool-lookup.ts';
import type { PoolTable } from './pool-table.ts';

export interface VolumePoolSources {
  readonly profile: Profile;
  readonly nodes: NodeTable;
  readonly volumes: VolumeTable;
  readonly pools: PoolTable;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
}

/** Which pool was chosen for a volume before it existed. */
export interface PlannedPool {
  /** The key of the pool that a reservation has chosen. */
  readonly key?: string | undefined;
  /** The name of the pool on the claim; empty if there is none. */
  readonly hint: string;
  /** The selected node; empty if there is none. */
  readonly nodeName: string;
}

/**
 * The key of the pool or drive that has the volume of the claim, or in which it will be created. Without `reserved`, the pool that a reservation
 * has chosen, it depends only on the stored objects.
 */
export function poolOfClaim(
  sources: VolumePoolSources,
  claim: ClaimRecord,
  { nodeName, reserved }: { readonly nodeName: string; readonly reserved?: string | undefined },
): string | undefined {
  const { pools, classes, volumes } = sources;
  if (!classes.has(claim.className)) return reserved;
  const inLedger = pools.driveOfClaim(claim.uid);
  if (inLedger !== undefined) return inLedger;
  const planned = { key: reserved, hint: claim.poolHint, nodeName };
  const volume = volumeCreatedFor(volumes, claim);
  if (volume !== undefined) return poolOfVolume(sources, volume, planned)?.key;
  return poolForNewVolume(sources, claim.className, planned)?.key;
}

/** The volume that a provisioner has created for the claim. */
export function volumeCreatedFor(
  volumes: VolumeTable,
  { key, uid }: Pick<ClaimRecord, 'key' | 'uid'>,
): VolumeRecord | undefined {
  const claimed = volumes.claimedFor(key);
  return claimed.find(({ claim, existsAtMs }) => claim?.uid === uid && existsAtMs !== undefined);
}

/** The size with which the volume was created: the claim may have requested more since. */
export function createdSize({ request }: ClaimRecord, { size, expansion }: VolumeRecord): Size {
  const created = expansion?.from ?? size;
  return request !== undefined && compareSizes(request, created) > 0 ? created : (request ?? zeroSize);
}

/** The pools for new volumes of a class; `untracked` if the class is not known. */
export function poolsOfClass(sources: VolumePoolSources, className: string): PoolLookup {
  return lookUpPools(sources, sources.classes.get(className)?.provisioner ?? '', className);
}

/** The pool that a volume of the class will be created in: the reserved one, else the one on the claim, else the first that the node reaches. */
function poolForNewVolume(
  sources: VolumePoolSources,
  className: string,
  planned: PlannedPool,
): PoolRecord | undefined {
  const reserved = planned.key === undefined ? undefined : sources.pools.get(planned.key);
  return reserved ?? chosen(poolsOnNode(sources, className, planned.nodeName), planned);
}

/**
 * The pool that has an existing volume. The volume's node affinity decides: a driver may create a volume in another topology segment than that
 * of the selected node. Where the affinity leaves several pools, the planned one counts. Undefined if no node reaches the volume, or
 * if several pools are left and nothing was planned.
 */
export function poolOfVolume(
  sources: VolumePoolSources,
  volume: VolumeRecord,
  planned: PlannedPool,
): PoolRecord | undefined {
  const { volumes, nodes } = sources;
  const reached = volumes.topology(volumes.row(volume.key)!).nodes;
  const node = nodes.row(planned.nodeName);
  if (node !== undefined && reached.has(node))
    return chosen(poolsOnNode(sources, volume.className, planned.nodeName), planned);
  const found = poolsOfClass(sources, volume.className);
  const { possible, isCertain } = possiblePools(sources, found, reached.rows());
  const pool = chosen(possible, planned);
  const isPlanned = pool !== undefined && (pool.key === planned.key || pool.name === planned.hint);
  return isCertain || isPlanned || node !== undefined ? pool : undefined;
}

/** The pools of the class that a node reaches, by key. */
function poolsOnNode(sources: VolumePoolSources, className: string, nodeName: string): readonly PoolRecord[] {
  const { pools, nodes } = sources;
  const found = poolsOfClass(sources, className);
  const node = nodes.row(nodeName);
  if (node === undefined || found.kind !== 'pools') return [];
  const rows = pools.partitionFor(found.entry, nodes.rowCount).itemsAt(node);
  return rows.map((row) => pools.record(row));
}

/**
 * The pools that a volume may be in, by the nodes that reach it: pools that all of these nodes reach, and if there are none, pools that any of
 * them reaches. Certain if the first is the case.
 */
export function possiblePools(
  { pools, nodes }: Pick<VolumePoolSources, 'pools' | 'nodes'>,
  found: PoolLookup,
  volumeNodes: readonly number[],
): { readonly possible: readonly PoolRecord[]; readonly isCertain: boolean } {
  const [first] = volumeNodes;
  if (found.kind !== 'pools' || first === undefined) return { possible: [], isCertain: false };
  const partition = pools.partitionFor(found.entry, nodes.rowCount);
  const isReachedByAll = (pool: number) => volumeNodes.every((node) => pools.topology(pool).nodes.has(node));
  const common = partition.itemsAt(first).filter(isReachedByAll);
  const rows = common.length > 0 ? common : new Set(volumeNodes.flatMap((node) => partition.itemsAt(node)));
  const possible = [...rows].map((row) => pools.record(row)).sort((a, b) => (a.key < b.key ? -1 : 1));
  return { possible, isCertain: common.length > 0 };
}

function chosen(possible: readonly PoolRecord[], { key, hint }: PlannedPool): PoolRecord | undefined {
  const reserved = possible.find((pool) => pool.key === key);
  return reserved ?? possible.find(({ name }) => name === hint) ?? possible[0];
}
