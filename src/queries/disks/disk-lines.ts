import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { diskEntries, scheduledBytesOf } from './disk-entries.ts';
import type { DiskLine, DiskLineState } from './disks-report.ts';
import type { KnownDisk } from './known-disks.ts';

export function diskLine(disk: KnownDisk): DiskLine {
  const { node, nodeName, name, uuid, wanted, schedule, state } = disk;
  const entries = diskEntries(disk);
  const scheduledBytes = schedule === undefined ? 0 : scheduledBytesOf(schedule);
  const limitBytes = state.kind === 'ready' ? state.limitBytes : undefined;
  const pending = entries.filter((entry) => entry.state === 'pending');
  return {
    node: nodeName,
    disk: name,
    uuid,
    ...stateOf(disk, scheduledBytes),
    path: wanted?.path,
    zone: textOf(node?.status?.zone) || undefined,
    tags: listOf(wanted?.tags),
    nodeTags: listOf(node?.spec?.tags),
    limitBytes,
    scheduledBytes,
    pendingBytes: pending.reduce(
      (sum, entry) => sum + Math.max(0, entry.requestedBytes - entry.scheduledBytes),
      0,
    ),
    freeBytes: limitBytes === undefined ? undefined : limitBytes - scheduledBytes,
    replicaCount: entries.filter(({ kind }) => kind === 'replica').length,
    imageCount: entries.filter(({ kind }) => kind === 'image').length,
    pendingCount: pending.length,
    rejectedCount: entries.filter((entry) => entry.state === 'rejected').length,
  };
}

/** Whether a node or a disk is to become empty. */
export function isEvicted({ node, wanted }: Pick<KnownDisk, 'node' | 'wanted'>): boolean {
  return node?.spec?.evictionRequested === true || wanted?.evictionRequested === true;
}

function stateOf(
  disk: KnownDisk,
  scheduledBytes: number,
): { readonly state: DiskLineState; readonly message?: string } {
  const { state } = disk;
  if (state.kind === 'unknown')
    return { state: state.isRemoved === true ? 'Removed' : 'NotReady', message: state.message };
  if (disk.wanted === undefined) return { state: 'Removed', ...messageOf(state.closed) };
  if (isEvicted(disk)) return { state: 'Evicting', message: evictionMessage(disk) };
  const over = scheduledBytes - state.limitBytes;
  if (over > 0)
    return {
      state: 'OverCommitted',
      message: `${over} bytes more are scheduled than the limit; what is scheduled stays, and nothing else is granted`,
    };
  return state.closed === undefined ? { state: 'Ready' } : { state: 'Disabled', ...messageOf(state.closed) };
}

function evictionMessage({ node, nodeName, name }: KnownDisk): string {
  const of = node?.spec?.evictionRequested === true ? '' : `disk ${name} of `;
  return `${of}StorageNode ${nodeName} has evictionRequested: true`;
}

function messageOf(closed: { readonly message: string } | undefined): { readonly message?: string } {
  return closed === undefined ? {} : { message: closed.message };
}

/** The Ready condition of a node; Unknown until its agent has reported one. */
export function nodeReadiness({ status }: StorageNode): {
  readonly state: 'Ready' | 'NotReady' | 'Unknown';
  readonly message?: string | undefined;
} {
  const ready = listOf(status?.conditions).find(({ type }) => type === 'Ready');
  if (ready === undefined) return { state: 'Unknown' };
  const message = textOf(ready.message) || textOf(ready.reason) || undefined;
  if (ready.status !== 'True') return { state: 'NotReady', message };
  return ready.reason === 'SomeDisksNotReady' ? { state: 'Ready', message } : { state: 'Ready' };
}
