import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskCapacitySettings } from '../../kube/stowage/disk-settings.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { diskLimit } from './disk-limit.ts';

/** The state of a disk, as its StorageNode reports it. */
export type DiskState =
  | {
      readonly kind: 'ready';
      /** The most bytes that all requests together can have. */
      readonly limitBytes: number;
      /** Why the disk takes no new requests, if it does not. */
      readonly closed?: { readonly reason: 'SchedulingDisabled' | 'DiskRemoved'; readonly message: string };
    }
  /** Nothing is known about the disk now, which does not mean that it has no bytes. */
  | {
      readonly kind: 'unknown';
      readonly message: string;
      /** The disk was abandoned, with everything on it, until it answers again. */
      readonly isRemoved?: true;
    };

export interface DiskIdentity {
  readonly uuid: string;
  /** The disk's name in the StorageNode. */
  readonly name: string;
  readonly nodeName: string;
}

/** Reads the state of a disk from its StorageNode; `settings` apply to all disks. */
export function diskState(
  node: StorageNode | undefined,
  { uuid, name, nodeName }: DiskIdentity,
  settings?: DiskCapacitySettings,
): DiskState {
  if (node === undefined) return unknown(`there is no StorageNode ${nodeName}`);
  const wanted = ownValue(node.spec?.disks, name);
  const seen = ownValue(node.status?.diskStatus, name);
  if (seen?.diskUUID !== uuid)
    return unknown(`StorageNode ${nodeName} reports no disk ${name} with this UUID`);
  // The condition of the disk is more exact than that of its node.
  const notReady = [...(seen.conditions ?? []), ...(node.status?.conditions ?? [])].find(
    ({ type, status }) => type === 'Ready' && status !== 'True',
  );
  if (notReady !== undefined)
    return unknown(notReady.message || `disk ${name} of StorageNode ${nodeName} is not ready`);
  const limit = diskLimit(seen, wanted, settings);
  if (limit.kind === 'unknown')
    return unknown(`StorageNode ${nodeName} does not report ${limit.missing} of disk ${name}`);
  const message = closedMessage(node, name);
  if (message === undefined) return { kind: 'ready', limitBytes: limit.bytes };
  const reason = wanted === undefined ? 'DiskRemoved' : 'SchedulingDisabled';
  return { kind: 'ready', limitBytes: limit.bytes, closed: { reason, message } };
}

/** Whether the replicas and copies on a disk have to leave it. */
export function isEvictionRequested(node: StorageNode | undefined, diskName: string): boolean {
  return (
    node?.spec?.evictionRequested === true ||
    ownValue(node?.spec?.disks, diskName)?.evictionRequested === true
  );
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
