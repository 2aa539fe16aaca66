import type { Node } from '../../../../kube/api/stored/core.ts';
import type { RowContext, TableCell, TableColumn } from '../../served-kind.ts';
import { age, ageColumn, nameColumn, orNone, unknownCell } from '../../table-cells.ts';

export const nodeColumns: readonly TableColumn[] = [
  nameColumn,
  { name: 'Status', type: 'string' },
  { name: 'Roles', type: 'string' },
  ageColumn,
  { name: 'Version', type: 'string' },
  { name: 'Internal-IP', type: 'string', priority: 1 },
  { name: 'External-IP', type: 'string', priority: 1 },
  { name: 'OS-Image', type: 'string', priority: 1 },
  { name: 'Kernel-Version', type: 'string', priority: 1 },
  { name: 'Container-Runtime', type: 'string', priority: 1 },
];

export function nodeRow(node: Node, context: RowContext): readonly TableCell[] {
  const {
    kubeletVersion = '',
    osImage,
    kernelVersion,
    containerRuntimeVersion,
    architecture,
  } = node.status.nodeInfo ?? {};
  return [
    node.metadata.name ?? '',
    statusOf(node),
    orNone(rolesOf(node).join(',')),
    age(node, context),
    kubeletVersion,
    addressOf(node, 'InternalIP'),
    addressOf(node, 'ExternalIP'),
    osImage || unknownCell,
    `${kernelVersion || unknownCell}${architecture ? ` (${architecture})` : ''}`,
    containerRuntimeVersion || unknownCell,
  ];
}

function statusOf({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === 'Ready');
  const condition = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable ? `${condition},SchedulingDisabled` : condition;
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesOf({ metadata }: Node): readonly string[] {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' ? [value] : [];
  });
  return [...new Set(roles)].filter((role) => role !== '').sort();
}

function addressOf({ status }: Node, addressType: string): string {
  return orNone(status.addresses?.find(({ type }) => type === addressType)?.address ?? '');
}
