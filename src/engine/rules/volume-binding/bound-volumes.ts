import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { VolumeRow } from '../../cluster-index/volumes/volume-table.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { BoundNeed } from './needs.ts';
import { bit } from './verdict-bits.ts';

/**
 * Sets bits in `obstacles` for nodes that can't reach a volume that the pod already has. Claims are checked in the pod's order; the first
 * one that fails decides for a node.
 */
export function checkBoundVolumes(cycle: Cycle, bound: readonly BoundNeed[], obstacles: Int32Array): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  for (const { row } of bound) {
    for (let position = 0; position < count; position++) {
      const node = nodes[position]!;
      if (obstacles[node] !== 0 || (row !== undefined && reaches(cycle.index, row, node))) continue;
      obstacles[node] = row === undefined ? bit.BoundVolumeMissing : bit.BoundVolumeUnreachable;
    }
  }
}

/** Decides by the node affinity. For an in-tree volume, by its CSI topology on nodes whose CSINode says that they serve the plugin through CSI. */
export function reaches(index: ClusterIndex, row: VolumeRow, node: number): boolean {
  const migrated = index.volumes.migratedTopology(row);
  const isMigrated =
    migrated !== undefined &&
    index.nodes.driversOfRow(node)?.migratedPlugins.has(index.volumes.record(row).migrated!.plugin) === true;
  return (isMigrated ? migrated : index.volumes.topology(row)).nodes.has(node);
}
