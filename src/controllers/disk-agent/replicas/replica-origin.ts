import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import { haveSameVolume } from '../../../kube/stowage/replica-volume.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import { type DiskVolume, hasVolumeData, isDataLossAccepted } from '../../../kube/stowage/volume.ts';
import { type AgentAddress, agentAddressOf, isReadyDisk, storageNodeOf } from '../agent-address.ts';

/** The initial data of a new replica. */
export type ReplicaOrigin =
  | { readonly kind: 'empty' }
  /** A copy of the image on a disk of this node. */
  | { readonly kind: 'image'; readonly imageName: string; readonly diskUUID: string }
  /** A healthy replica of the same volume on another disk of this node, or of another agent. */
  | { readonly kind: 'local'; readonly replicaName: string; readonly diskUUID: string }
  | { readonly kind: 'agent'; readonly replicaName: string; readonly address: AgentAddress }
  | { readonly kind: 'wait'; readonly message: string };

export interface ReplicaOriginView {
  readonly replica: Replica;
  /** The volume, read after `siblings`; undefined if it does not exist. */
  readonly volume: Pick<DiskVolume, 'metadata' | 'status'> | undefined;
  /** All replicas with the name of the volume, from a live read: a cache may not know yet that one of them has data. */
  readonly siblings: readonly Replica[];
  /** The image that the volume begins with. */
  readonly image: { readonly name: string; readonly object: BackingImage | undefined } | undefined;
  readonly nodes: Iterable<StorageNode>;
  readonly isOwnDisk: (uuid: string) => boolean;
}

/**
 * If the volume has data, a new replica begins with that data; otherwise with its image, or empty. It never begins with less than others have, or had: a
 * volume that lost its data waits until a user accepts the loss. The controller `disks` records that a volume had data before the last replica with data is deleted
 * (`ReplicaRelease`), so a volume that is read after its replicas has the record, or one of the replicas still has the data.
 */
export function replicaOrigin({
  replica,
  volume,
  siblings,
  image,
  nodes,
  isOwnDisk,
}: ReplicaOriginView): ReplicaOrigin {
  const isLossAccepted = volume !== undefined && isDataLossAccepted(volume);
  const withData = siblings.filter(
    (other) =>
      other.metadata?.uid !== replica.metadata?.uid &&
      other.status?.healthyAt !== undefined &&
      !(isLossAccepted && other.metadata?.deletionTimestamp !== undefined) &&
      haveSameVolume(replica, other),
  );
  if (withData.length === 0 && volume !== undefined && hasVolumeData(volume) && !isLossAccepted)
    return {
      kind: 'wait',
      message: 'the volume had data, and no other replica has it; its status says what to do',
    };
  if (withData.length === 0) return image === undefined ? { kind: 'empty' } : fromImage(image, isOwnDisk);
  const sound = withData.filter(({ status }) => status?.failedAt === undefined);
  for (const { metadata, spec } of sound)
    if (isOwnDisk(spec?.diskID ?? ''))
      return { kind: 'local', replicaName: metadata?.name ?? '', diskUUID: spec?.diskID ?? '' };
  const known = [...nodes];
  for (const { metadata, spec } of sound) {
    const node = storageNodeOf(known, spec?.diskID ?? '');
    const address = node && isReadyDisk(node, spec?.diskID ?? '') ? agentAddressOf(node) : undefined;
    if (address !== undefined) return { kind: 'agent', replicaName: metadata?.name ?? '', address };
  }
  const names = withData.map(({ metadata }) => metadata?.name).join(', ');
  return { kind: 'wait', message: `waits for the agent of a replica that has the data: ${names}` };
}

function fromImage(
  { name, object }: { readonly name: string; readonly object: BackingImage | undefined },
  isOwnDisk: (uuid: string) => boolean,
): ReplicaOrigin {
  const copies = Object.entries(object?.status?.diskFileStatusMap ?? {});
  const ready = copies.find(([uuid, { state }]) => state === 'ready' && isOwnDisk(uuid));
  if (ready !== undefined) return { kind: 'image', imageName: name, diskUUID: ready[0] };
  return { kind: 'wait', message: `waits for a copy of BackingImage ${name} on a disk of its node` };
}
