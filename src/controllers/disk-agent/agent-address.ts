import { getCondition } from '../../kube/conditions.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';

/** Where another agent serves its data, and by which certificate it is recognized. */
export interface AgentAddress {
  readonly url: string;
  readonly certificateSHA256: string;
}

/** Undefined if the node has no agent that serves its data. */
export function agentAddressOf({ status }: Pick<StorageNode, 'status'>): AgentAddress | undefined {
  const { url, certificateSHA256 } = status?.upload ?? {};
  if (url === undefined || certificateSHA256 === undefined || !url.startsWith('https://')) return undefined;
  return { url, certificateSHA256 };
}

/** The node that reports this disk. */
export function storageNodeOf<T extends Pick<StorageNode, 'status'>>(
  nodes: Iterable<T>,
  diskUUID: string,
): T | undefined {
  for (const node of nodes)
    if (Object.values(node.status?.diskStatus ?? {}).some((disk) => disk.diskUUID === diskUUID)) return node;
  return undefined;
}

export function isReadyDisk({ status }: Pick<StorageNode, 'status'>, diskUUID: string): boolean {
  const disk = Object.values(status?.diskStatus ?? {}).find((each) => each.diskUUID === diskUUID);
  const isNodeReady = (getCondition(status?.conditions, 'Ready')?.status ?? 'True') === 'True';
  return isNodeReady && getCondition(disk?.conditions, 'Ready')?.status === 'True';
}
