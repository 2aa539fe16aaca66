import type { PodTemplateSpec } from '../../../../kube/api/stored/core.ts';
import type { TableColumn } from '../../served-kind.ts';
import { ageColumn, nameColumn } from '../../table-cells.ts';

/** The names and the images of a template's containers, for `-o wide`. */
export function containerCells(
  template: PodTemplateSpec | undefined,
): readonly [names: string, images: string] {
  const containers = template?.spec.containers ?? [];
  return [containers.map(({ name }) => name).join(','), containers.map(({ image }) => image ?? '').join(',')];
}

export const containerColumns: readonly TableColumn[] = [
  { name: 'Containers', type: 'string', priority: 1 },
  { name: 'Images', type: 'string', priority: 1 },
];

export const selectorColumn: TableColumn = { name: 'Selector', type: 'string', priority: 1 };

/** For ReplicaSets and ReplicationControllers. */
export const replicaColumns: readonly TableColumn[] = [
  nameColumn,
  { name: 'Desired', type: 'integer' },
  { name: 'Current', type: 'integer' },
  { name: 'Ready', type: 'integer' },
  ageColumn,
  ...containerColumns,
  selectorColumn,
];
