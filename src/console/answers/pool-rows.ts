import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { disksDriver } from '../../kube/stowage/volume.ts';
import { PoolReader } from '../../queries/pools/pool-reader.ts';
import { type Reach, reachText } from '../../queries/pools/reach.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import type { ConsolePool } from '../wire/rows.ts';

/** Every pool and drive for the console, with the numbers of `stowage capacity`. */
export function poolRows(view: ClusterView, index: ClusterIndex, nowMs: number): readonly ConsolePool[] {
  const reader = new PoolReader(view, index, nowMs);
  return [...index.pools.records()].map((pool) => poolRow(pool, reader, index));
}

function poolRow(pool: PoolRecord, reader: PoolReader, index: ClusterIndex): ConsolePool {
  const figures = reader.read(pool);
  const { reach, total, used, isExpired, isOrphaned } = figures;
  const driver = figures.driver ?? index.classes.get(pool.storageClass)?.provisioner ?? '';
  return {
    id: pool.key,
    name: figures.pool,
    source: pool.form,
    namespace: pool.form === 'CSIStorageCapacity' ? (pool.object.split('/')[0] ?? '') : '',
    driver,
    storageClass: figures.storageClass,
    node: reach.nodeCount === 1 ? (reach.nodes[0] ?? '') : '',
    zone: zoneOf(reach, index),
    reach: reachText(reach),
    totalBytes: total === undefined ? null : bytes(total),
    usedBytes: used === undefined ? null : bytes(used),
    promisedBytes: bytes(figures.promised),
    freeBytes: bytes(figures.free),
    state: figures.state ?? (isExpired ? 'Expired' : isOrphaned ? 'Orphaned' : 'Ready'),
    backing: pool.backing,
    isSummary: pool.form !== 'Drive' && (driver === drivesDriver || driver === disksDriver),
  };
}

function bytes(quantity: string): number {
  return Number(bytesOf(quantity));
}

/** Empty if the nodes are in several zones, or in none. */
function zoneOf({ nodes, nodeCount }: Reach, index: ClusterIndex): string {
  const zones = new Set(
    nodes.map((name) => index.nodes.get(name)?.labels['topology.kubernetes.io/zone'] ?? ''),
  );
  const [zone = ''] = zones;
  return zones.size === 1 && nodeCount < index.nodes.size ? zone : '';
}
