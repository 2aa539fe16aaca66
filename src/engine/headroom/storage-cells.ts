import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodePartition } from '../cluster-index/nodes/node-partition.ts';
import type { NodeRow } from '../cluster-index/nodes/node-table.ts';
import { lookUpPools } from '../cluster-index/pools/pool-lookup.ts';
import type { ClaimRecord } from '../records/claim-record.ts';

/** Nodes that reach the same free volumes and pools for a claim: a node with local disks, a zone, or the whole cluster. */
export interface StorageCell {
  readonly nodes: readonly string[];
  /** No claim that is larger fits, whatever the rules say; undefined if there is no limit. */
  readonly upperBoundBytes: number | undefined;
}

export interface StorageCells {
  readonly cells: readonly StorageCell[];
  /** True if no volume and no pool is reached from more than one cell: then the cells fill up independently of each other. */
  readonly areIndependent: boolean;
}

/** The nodes, grouped by what they reach for new volumes of this claim. Nodes that reach nothing are left out. */
export function storageCells(index: ClusterIndex, claim: ClaimRecord): StorageCells {
  const volumes = index.volumes.partitionFor(index.volumes.groupsFor(claim), index.nodes.rowCount);
  const storageClass = index.classes.get(claim.className);
  const pools =
    storageClass?.canProvision === true
      ? lookUpPools(index, storageClass.provisioner, claim.className)
      : ({ kind: 'none' } as const);
  if (pools.kind === 'untracked') return wholeCluster(index);
  const published =
    pools.kind === 'pools' ? index.pools.partitionFor(pools.entry, index.nodes.rowCount) : undefined;
  const [partition, ...others] = [volumes, published].filter((one) => one !== undefined && one.cellCount > 0);
  if (partition === undefined) return { cells: [], areIndependent: true };
  if (others.length > 0) return eachNode(index, volumes, published!);
  const bound = partition === volumes ? largestVolume : largestPool;
  return {
    cells: rowsOfCells(partition).map((rows, cell) => ({
      nodes: namesOf(index, rows),
      upperBoundBytes: bound(index, itemsOf(partition, cell)),
    })),
    areIndependent: hasOwnItems(partition) && (partition === volumes || !sharesBackings(index, partition)),
  };
}

function wholeCluster(index: ClusterIndex): StorageCells {
  const nodes = namesOf(index, index.nodes.rowsByName);
  return { cells: [{ nodes, upperBoundBytes: undefined }], areIndependent: true };
}

/** If a claim may use existing volumes and pools, cells are compared node by node: each node must reach its own. */
function eachNode(index: ClusterIndex, volumes: NodePartition, pools: NodePartition): StorageCells {
  const rows = index.nodes.rowsByName.filter(
    (row) => volumes.cellOfNode[row]! >= 0 || pools.cellOfNode[row]! >= 0,
  );
  const isLocal = (partition: NodePartition) =>
    hasOwnItems(partition) && rowsOfCells(partition).every(({ length }) => length === 1);
  return {
    cells: rows.map((row) => ({
      nodes: namesOf(index, [row]),
      upperBoundBytes: Math.max(
        largestVolume(index, volumes.itemsAt(row)),
        largestPool(index, pools.itemsAt(row)),
      ),
    })),
    areIndependent: isLocal(volumes) && isLocal(pools) && !sharesBackings(index, pools),
  };
}

/** Whether each item is in one cell only. */
function hasOwnItems({ items }: NodePartition): boolean {
  return new Set(items).size === items.length;
}

function sharesBackings(index: ClusterIndex, { items }: NodePartition): boolean {
  return items.some((row) => index.pools.poolsOnSameBacking(index.pools.record(row).key).length > 1);
}

function rowsOfCells({ cellCount, nodes, nodeStarts }: NodePartition): readonly (readonly number[])[] {
  return Array.from({ length: cellCount }, (_, cell) => [
    ...nodes.subarray(nodeStarts[cell]!, nodeStarts[cell + 1]!),
  ]);
}

function itemsOf({ items, itemStarts }: NodePartition, cell: number): readonly number[] {
  return [...items.subarray(itemStarts[cell]!, itemStarts[cell + 1]!)];
}

function largestPool({ pools }: ClusterIndex, rows: readonly number[]): number {
  const free = rows.map((row) => Math.min(pools.limit(row)?.bytes ?? 0, pools.available(row).bytes));
  return Math.max(0, ...free);
}

function largestVolume({ volumes: { lists } }: ClusterIndex, parts: readonly number[]): number {
  const largest = parts.map((list) => (lists.length(list) === 0 ? 0 : lists.bytes[lists.ends[list]! - 1]!));
  return Math.max(0, ...largest);
}

function namesOf({ nodes }: ClusterIndex, rows: readonly number[]): readonly string[] {
  return rows.map((row) => nodes.record(row as NodeRow)!.key).sort();
}
