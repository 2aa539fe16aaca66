import type { AllocatableAmounts, ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import type { Change } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { allocatableOf } from '../../cluster-index/pods/usage-table.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { demandOf, usageOf } from '../../records/pod-demand.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { Interest } from '../framework/rule.ts';
import { evictableOn } from '../wake-conditions/evictable-pods.ts';
import { nodesLeft, placesOf } from '../wake-conditions/pod-moves.ts';
import { couldFit, fits } from './shortages.ts';

/** Only the node that changed can have come to fit, and whether it does can be seen: the index has the change already. */
export function resourcesWake({ pod }: Interest, change: Change, index: ClusterIndex): boolean {
  switch (change.kind) {
    case 'Node':
      return (
        change.after !== undefined &&
        gives(change.before, change.after) &&
        fitsNow(pod, index, change.after.key)
      );
    case 'Pod':
      return nodesFreed(change.before, change.after).some((name) => fitsNow(pod, index, name));
    case 'Release':
      return change.nodeName !== '' && fitsNow(pod, index, change.nodeName);
    default:
      return false;
  }
}

export function resourcesInvalidate(_: Interest, change: Change): boolean {
  switch (change.kind) {
    case 'Node':
      return (
        change.before === undefined ||
        change.after === undefined ||
        gives(change.before, change.after) ||
        gives(change.after, change.before)
      );
    case 'Pod':
      return countsOtherwise(change.before, change.after);
    case 'Release':
      return change.nodeName !== '';
    default:
      return false;
  }
}

function countsOtherwise(before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  if (nodesLeft(before, after).length > 0 || nodesLeft(after, before).length > 0) return true;
  if (before === undefined || after === undefined || before.shape === after.shape) return false;
  const was = usageOf(before.shape);
  const is = usageOf(after.shape);
  return differ(was.requests, is.requests) || differ(was.scored, is.scored);
}

/** Nodes on which something has become free: the pod has left them, or takes less where it is or is to go. */
function nodesFreed(before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  const left = nodesLeft(before, after);
  if (before === undefined || after === undefined || before.shape === after.shape) return left;
  // A pod that is only now said to be on its node has been assumed there before, as it was then.
  const isSmaller = exceeds(usageOf(before.shape).requests, usageOf(after.shape).requests);
  return isSmaller ? [...left, ...placesOf(after)] : left;
}

/** As the node is, or once those have left that the pod may evict. */
function fitsNow(pod: PodRecord, index: ClusterIndex, nodeName: string): boolean {
  const row = index.nodes.row(nodeName);
  if (row === undefined) return false;
  const { requests } = demandOf(pod.shape);
  if (fits(requests, index.usage, row)) return true;
  const evictable = evictableOn(nodeName, pod, index);
  return evictable.length > 0 && couldFit(requests, index.usage, row, usedBy(evictable));
}

function usedBy(pods: readonly PodRecord[]): ResourceAmounts & { readonly pods: number } {
  const sum = { pods: pods.length, cpuMilli: 0, memoryBytes: 0, ephemeralStorageBytes: 0 };
  const others = new Map<string, number>();
  for (const { shape } of pods) {
    const { requests } = usageOf(shape);
    sum.cpuMilli += requests.cpuMilli;
    sum.memoryBytes += requests.memoryBytes;
    sum.ephemeralStorageBytes += requests.ephemeralStorageBytes;
    for (const [name, amount] of requests.others) others.set(name, (others.get(name) ?? 0) + amount);
  }
  return { ...sum, others };
}

/** Whether the node has more of anything than it had. */
function gives(before: NodeRecord | undefined, after: NodeRecord): boolean {
  if (before === undefined) return true;
  const had: AllocatableAmounts = allocatableOf(before);
  const has: AllocatableAmounts = allocatableOf(after);
  return has.pods > had.pods || exceeds(has, had);
}

function exceeds(some: ResourceAmounts, others: ResourceAmounts): boolean {
  return (
    some.cpuMilli > others.cpuMilli ||
    some.memoryBytes > others.memoryBytes ||
    some.ephemeralStorageBytes > others.ephemeralStorageBytes ||
    [...some.others].some(([name, amount]) => amount > (others.others.get(name) ?? 0))
  );
}

function differ(a: ResourceAmounts, b: ResourceAmounts): boolean {
  return exceeds(a, b) || exceeds(b, a);
}
