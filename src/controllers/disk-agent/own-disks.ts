import { forceRemovalKey } from '../../kube/stowage/storage-node.ts';
import type { AgentParts } from './agent-parts.ts';

/** Whether the agent's node has this disk, or reported it before it ceased to answer. */
export function ownsDisk(
  { nodeName, disks, caches }: Pick<AgentParts, 'nodeName' | 'disks' | 'caches'>,
  uuid: string,
): boolean {
  if (disks.ready(uuid) !== undefined) return true;
  const { status } = caches.nodes.get(nodeName) ?? {};
  return Object.values(status?.diskStatus ?? {}).some((disk) => disk.diskUUID === uuid);
}

/** Whether a user removed the disk by force: its files can't be removed, and no deletion waits for them. */
export function givesUpDisk(
  { nodeName, disks, caches }: Pick<AgentParts, 'nodeName' | 'disks' | 'caches'>,
  uuid: string,
): boolean {
  if (disks.ready(uuid) !== undefined) return false;
  const objects = [caches.nodes.get(nodeName), caches.schedules.get(uuid)];
  return objects.some((object) => object?.metadata?.annotations?.[forceRemovalKey] === 'true');
}
