import { copyBytes, mayMakeCopy } from '../../../engine/disks/images/may-make-copy.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import { belongsTo } from '../../../kube/stowage/replica-volume.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import { type AgentAddress, agentAddressOf, isReadyDisk, storageNodeOf } from '../agent-address.ts';
import type { DiskAgentCaches } from '../agent-caches.ts';

/** Where the data of a copy comes from. */
export type CopyOrigin =
  | { readonly kind: 'download'; readonly url: string }
  | { readonly kind: 'upload' }
  /** The data of a folder on another disk of this node. */
  | { readonly kind: 'local'; readonly diskUUID: string; readonly data: OriginData }
  /** The data of a folder of another agent. */
  | { readonly kind: 'agent'; readonly address: AgentAddress; readonly data: OriginData }
  | { readonly kind: 'wait'; readonly message: string };

export interface OriginData {
  readonly kind: 'Replica' | 'BackingImage';
  readonly name: string;
}

interface ScheduleLookup {
  get(diskUUID: string): Pick<DiskSchedule, 'spec' | 'status'> | undefined;
}

export interface OriginView extends Pick<DiskAgentCaches, 'replicas' | 'schedules'> {
  readonly nodes: { values(): Iterable<StorageNode> };
  /**
   * The volume that the image is made of, from a live read; undefined if there is none. Replicas of a deleted volume of the same name may still be there,
   * and their data is not that of this volume.
   */
  readonly volume: DiskVolume | undefined;
  /** Whether a disk of this agent has this UUID, and can be used. */
  readonly isOwnDisk: (uuid: string) => boolean;
}

/**
 * A copy that is ready elsewhere is the best source. Without one, the first of the wanted copies is made from the image's own source, and the
 * others wait for it. Every agent comes to the same answer from the same objects.
 */
export function copyOrigin(image: BackingImage, diskUUID: string, view: OriginView): CopyOrigin {
  const data: OriginData = { kind: 'BackingImage', name: image.metadata?.name ?? '' };
  const ready = Object.entries(image.status?.diskFileStatusMap ?? {})
    .filter(([uuid, { state }]) => uuid !== diskUUID && (state === 'ready' || state === 'ready-for-transfer'))
    .map(([uuid]) => uuid);
  const found = nearest(ready.sort(), data, view);
  if (found !== undefined) return found;
  if (ready.length > 0) return { kind: 'wait', message: 'waits for an agent that has a copy to answer' };
  if (firstCopyDisk(image, view) !== diskUUID)
    return { kind: 'wait', message: 'waits for the first copy, which is being made on another disk' };
  return sourceOf(image, view);
}

function nearest(uuids: readonly string[], data: OriginData, view: OriginView): CopyOrigin | undefined {
  const own = uuids.find((uuid) => view.isOwnDisk(uuid));
  if (own !== undefined) return { kind: 'local', diskUUID: own, data };
  for (const uuid of uuids) {
    const node = storageNodeOf(view.nodes.values(), uuid);
    const address = node && isReadyDisk(node, uuid) ? agentAddressOf(node) : undefined;
    if (address !== undefined) return { kind: 'agent', address, data };
  }
  return undefined;
}

/**
 * The disk of the copy that is made from the image's own source, and whose agent reads the length of the source while no size is known; undefined while
 * there is none. A node without an agent that serves data comes last: it
 * is not known whether any program makes its copies.
 */
export function firstCopyDisk(
  image: BackingImage,
  { nodes, schedules }: Pick<OriginView, 'nodes'> & { readonly schedules: ScheduleLookup },
): string | undefined {
  const isSized = copyBytes(image) !== undefined;
  const usable = Object.keys(image.spec?.diskFileSpecMap ?? {})
    .sort()
    .flatMap((uuid) => {
      const node = storageNodeOf(nodes.values(), uuid);
      const { state } = image.status?.diskFileStatusMap?.[uuid] ?? {};
      const isUsable = node !== undefined && isReadyDisk(node, uuid) && state !== 'failed';
      const mayUse = !isSized || mayMakeCopy(image, uuid, schedules.get(uuid));
      return isUsable && mayUse ? [{ uuid, node }] : [];
    });
  return (usable.find(({ node }) => agentAddressOf(node) !== undefined) ?? usable[0])?.uuid;
}

function sourceOf({ spec }: BackingImage, view: OriginView): CopyOrigin {
  const { download, volume } = spec?.source ?? {};
  if (download !== undefined) return { kind: 'download', url: download.url ?? '' };
  if (volume === undefined) return { kind: 'upload' };
  const source = view.volume;
  if (source === undefined)
    return { kind: 'wait', message: `waits for Volume ${volume.name}, which does not exist` };
  const complete = [...view.replicas.values()].filter(
    (replica) => belongsTo(replica, source) && isComplete(replica),
  );
  for (const { metadata, spec: { diskID = '' } = {} } of complete) {
    const data: OriginData = { kind: 'Replica', name: metadata?.name ?? '' };
    const origin = nearest([diskID], data, view);
    if (origin !== undefined) return origin;
  }
  return {
    kind: 'wait',
    message: `waits for a healthy replica of Volume ${volume.name} whose agent answers`,
  };
}

/** Whether the replica has all data of its volume. */
function isComplete({ metadata, status }: Replica): boolean {
  const isSound = status?.healthyAt !== undefined && status.failedAt === undefined;
  return isSound && metadata?.deletionTimestamp === undefined;
}
