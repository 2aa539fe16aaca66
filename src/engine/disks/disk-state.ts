import type { StorageNode } from '../../kube/disks/storage-node.ts';
import { ownValue } from '../../kube/go/json-value.ts';

/** What a StorageNode says about one of its disks. */
export type DiskState =
  | {
      readonly kind: 'ready';
      /** Bytes that requests can have in all. */
      readonly limitBytes: number;
      /** Why the disk takes no new requests, if it does not. */
      readonly closed?: { readonly reason: 'SchedulingDisabled' | 'DiskRemoved'; readonly message: string };
    }
  /** Nothing is known about the disk now, which does not mean that it has no bytes. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface DiskIdentity {
  readonly uuid: string;
  /** The disk's name in the StorageNode. */
  readonly name: string;
  readonly nodeName: string;
}

/** The limit is `storageAvailable` less `storageReserved`. */
export function diskState(node: StorageNode | undefined, { uuid, name, nodeName }: DiskIdentity): DiskState {
  if (node === undefined) return unknown(`there is no StorageNode ${nodeName}`);
  const wanted = ownValue(node.spec?.disks, name);
  const seen = ownValue(node.status?.diskStatus, name);
  if (seen?.diskUUID !== uuid)
    return unknown(`StorageNode ${nodeName} reports no disk ${name} with this UUID`);
  const notReady = [...(node.status?.conditions ?? []), ...(seen.conditions ?? [])].find(
    ({ type, status }) => type === 'Ready' && status !== 'True',
  );
  if (notReady !== undefined)
    return unknown(notReady.message || `disk ${name} of StorageNode ${nodeName} is not ready`);
  if (seen.storageAvailable === undefined)
    return unknown(`StorageNode ${nodeName} does not report storageAvailable of disk ${name}`);
  const limitBytes = Math.max(0, seen.storageAvailable - (wanted?.storageReserved ?? 0));
  const message = closedMessage(node, name);
  if (message === undefined) return { kind: 'ready', limitBytes };
  const reason = wanted === undefined ? 'DiskRemoved' : 'SchedulingDisabled';
  return { kind: 'ready', limitBytes, closed: { reason, message } };
}

function closedMessage({ metadata, spec }: StorageNode, diskName: string): string | undefined {
  const node = `StorageNode ${metadata?.name}`;
  const disk = ownValue(spec?.disks, diskName);
  if (disk === undefined) return `disk ${diskName} is not in spec.disks of ${node}`;
  if (spec?.allowScheduling === false) return `${node} has allowScheduling: false`;
  if (spec?.evictionRequested === true) return `${node} has evictionRequested: true`;
  if (disk.allowScheduling === false) return `disk ${diskName} of ${node} has allowScheduling: false`;
  if (disk.evictionRequested === true) return `disk ${diskName} of ${node} has evictionRequested: true`;
  return undefined;
}

function unknown(message: string): DiskState {
  return { kind: 'unknown', message };
}
