import type { Cluster } from '../../cluster/cluster.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { CliError } from '../errors/cli-error.ts';
import type { DisksTarget } from './disk-targets.ts';
import { editStorageNode } from './edit-storage-node.ts';

export type NodeOrDisk = Extract<DisksTarget, { readonly kind: 'node' | 'disk' }>;

/** Whether a node or a disk takes new replicas and copies, and whether those that are there have to leave. */
export interface SchedulingFields {
  readonly allowScheduling: boolean;
  readonly evictionRequested?: boolean;
}

/** Writes the fields, with the version that they were decided on; false if they are so already. */
export async function setScheduling(
  cluster: Cluster,
  target: NodeOrDisk,
  fields: SchedulingFields,
): Promise<boolean> {
  const nodeName = target.kind === 'node' ? (target.node.metadata?.name ?? '') : target.disk.nodeName;
  const { isChanged } = await editStorageNode(cluster, nodeName, (node) =>
    target.kind === 'node' ? nodeChange(node, fields) : diskChange(node, target.disk.name, fields),
  );
  return isChanged;
}

function nodeChange({ spec }: StorageNode, fields: SchedulingFields): object | undefined {
  return has(spec, fields) ? undefined : { spec: fields };
}

function diskChange(
  { metadata, spec }: StorageNode,
  name: string,
  fields: SchedulingFields,
): object | undefined {
  const disk = ownValue(spec?.disks, name);
  if (disk === undefined)
    throw new CliError(
      `disk ${name} is not in spec.disks of StorageNode ${metadata?.name}; it takes nothing new, and its schedule goes once it is empty`,
    );
  return has(disk, fields) ? undefined : { spec: { disks: { [name]: fields } } };
}

/** An absent field has its default. */
function has(current: Partial<SchedulingFields> | undefined, fields: SchedulingFields): boolean {
  const { allowScheduling = true, evictionRequested = false } = current ?? {};
  return (
    allowScheduling === fields.allowScheduling &&
    evictionRequested === (fields.evictionRequested ?? evictionRequested)
  );
}
