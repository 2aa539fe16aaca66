/**
 * Storage that pods can't share: disks that the pod spec names, which only one pod of a node may use for writing; and claims with access
 * mode ReadWriteOncePod, which only one pod in the cluster may use.
 */
import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { NodeRow } from '../../cluster-index/nodes/node-table.ts';
import { accessModeBits } from '../../records/access-modes.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { type DiskUse, exclusiveDisks } from '../../records/pod-shape/exclusive-disks.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { occupiedNodes } from '../wake-conditions/pod-moves.ts';

type PodChange = ObjectChange<'Pod'>;

interface RestrictionState {
  readonly disks: readonly DiskUse[];
  /** Claims of the pod that another pod uses exclusively. */
  readonly takenClaims: readonly string[];
}

const diskInUseBit = 1;
const claimInUseBit = 2;

export const volumeRestrictionsRule: Rule<RestrictionState> = {
  name: 'VolumeRestrictions',
  reasons: ['DiskInUse', 'ClaimInUse'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates,
};

function prepare({ index, pod }: Cycle): Prepared<RestrictionState> {
  const disks = exclusiveDisks(pod.shape);
  const takenClaims = pod.claims.map(({ key }) => key).filter((key) => isTaken(index, key, pod));
  return disks.length === 0 && takenClaims.length === 0
    ? skip
    : { kind: 'ready', state: { disks, takenClaims } };
}

const onePodBit = accessModeBits(['ReadWriteOncePod']);

/** The binding rule reports a claim that does not exist. */
function isTaken(index: ClusterIndex, claimKey: string, asking: PodRecord): boolean {
  const modes = index.claims.get(claimKey)?.accessModes ?? 0;
  if ((modes & onePodBit) === 0) return false;
  for (const pod of index.pods.usingClaim(claimKey)) {
    // As in kube-scheduler, a pod whose node no longer exists does not count.
    if (pod.key !== asking.key && occupies(pod) && index.nodes.row(pod.nodeName) !== undefined) return true;
  }
  return false;
}

function occupies(pod: PodRecord): boolean {
  return pod.nodeName !== '' && !pod.isFinished;
}

function filter({ disks, takenClaims }: RestrictionState, cycle: Cycle): void {
  for (const disk of disks) {
    for (const node of cycle.index.disks.nodesInConflict(disk)) {
      if (cycle.isFeasible(node)) cycle.reject(node, diskInUseBit);
    }
  }
  if (takenClaims.length === 0) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) cycle.reject(nodes[position]!, claimInUseBit);
}

function explain(
  { disks, takenClaims }: RestrictionState,
  { index }: Cycle,
  node: number,
): readonly Finding[] {
  const isInConflict = disks.some((disk) => index.disks.isInConflict(disk, node as NodeRow));
  return [
    ...(isInConflict ? [plainFinding(volumeRestrictionsRule.name, 'DiskInUse')] : []),
    ...takenClaims.map((key) => plainFinding(volumeRestrictionsRule.name, 'ClaimInUse', key)),
  ];
}

function wakes(interest: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  switch (change.kind) {
    case 'Pod':
      return mayGiveUp(interest.pod, change, index);
    case 'PersistentVolumeClaim':
      return changesModes(interest, change);
    case 'Node':
      return change.before === undefined || (change.after === undefined && interest.claimKeys.size > 0);
    case 'Release':
      return change.nodeName !== '';
    default:
      return false;
  }
}

/** Whether another pod used storage that this one needs, or was assumed to use it, and may no longer do so. */
function mayGiveUp(asking: PodRecord, change: PodChange, index: ClusterIndex): boolean {
  const { before, after } = change;
  if ((after ?? before)!.key === asking.key || before?.isFinished === true || !isSettled(change))
    return false;
  const known = before ?? index.pods.assumed(after!.key);
  return known !== undefined && shares(asking, known) && !staysPut(change);
}

/**
 * Whether the pod has a node, is nominated to one, or is finished, before or after the change. Any other pod counts only if it is assumed,
 * and the event does not change that.
 */
function isSettled({ before, after }: PodChange): boolean {
  return [before, after].some((pod) => pod?.isFinished === true || occupiedNodes(pod).length > 0);
}

/** Whether the two pods name the same disk or claim, for reading or writing. */
function shares(asking: PodRecord, other: PodRecord): boolean {
  if (asking.claims.some(({ key }) => other.claims.some((claim) => claim.key === key))) return true;
  const disks = exclusiveDisks(other.shape);
  return exclusiveDisks(asking.shape).some(({ key }) => disks.some((disk) => disk.key === key));
}

/** Whether the pod stays on its node with the same storage. */
function staysPut({ before, after }: PodChange): boolean {
  if (before === undefined || after === undefined) return false;
  if (!occupies(before) || !occupies(after) || before.nodeName !== after.nodeName) return false;
  return storageKey(before) === storageKey(after);
}

function storageKey({ claims, shape }: PodRecord): string {
  return JSON.stringify([claims.map(({ key }) => key), exclusiveDisks(shape)]);
}

function changesModes(
  { claimKeys }: Interest,
  { before, after }: ObjectChange<'PersistentVolumeClaim'>,
): boolean {
  return claimKeys.has((after ?? before)!.key) && before?.accessModes !== after?.accessModes;
}

function invalidates(interest: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  switch (change.kind) {
    case 'Pod': {
      const { before, after } = change;
      const isShared = [before, after].some((pod) => pod !== undefined && shares(interest.pod, pod));
      return isShared && isSettled(change) && !staysPut(change);
    }
    case 'Node':
      return change.before === undefined || change.after === undefined;
    default:
      return wakes(interest, change, index);
  }
}
