import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { VolumeRow } from '../../cluster-index/volumes/volume-table.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { BoundNeed } from './needs.ts';
import { bit } from './verdict-bits.ts';

/**
 * Volumes that the pod already has must be reachable; notes in `obstacles` where one isn't. Claims are looked at in the pod's
 * order, and a node is settled by the first that it fails.
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

/** By node affinity; of an in-tree disk by its CSI form, on nodes whose CSINode says that they serve it so. */
export function reaches(index: ClusterIndex, row: VolumeRow, node: number): boolean {
  const migrated = index.volumes.migratedTopology(row);
  const isMigrated =
    migrated !== undefined &&
    index.nodes.driversOfRow(node)?.migratedPlugins.has(index.volumes.record(row).migrated!.plugin) === true;
  return (isMigrated ? migrated : index.volumes.topology(row)).nodes.has(node);
}
