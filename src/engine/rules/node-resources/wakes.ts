import type { AllocatableAmounts, ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { allocatableOf } from '../../cluster-index/pods/usage-table.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { podDemandOf, podUsageOf } from '../../records/pod-shape/pod-demand.ts';
import type { Interest } from '../framework/rule.ts';
import { evictablePodsOn } from '../wake-conditions/evictable-pods.ts';
import { nodesVacated, occupiedNodes } from '../wake-conditions/pod-moves.ts';
import { fits, fitsAfterEvicting } from './shortages.ts';

/** Only the changed node can have become a fit. The index already has the change, so this can be checked. */
export function resourcesWake({ pod }: Interest, change: ClusterChange, index: ClusterIndex): boolean {
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
    case 'DeviceClass':
      return concernsRequests(pod, change);
    default:
      return false;
  }
}

export function resourcesInvalidate({ pod }: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'Node':
      return (
        change.before === undefined ||
        change.after === undefined ||
        gives(change.before, change.after) ||
        gives(change.after, change.before)
      );
    case 'Pod':
      return usageDiffers(change.before, change.after);
    case 'Release':
      return change.nodeName !== '';
    case 'DeviceClass':
      return concernsRequests(pod, change);
    default:
      return false;
  }
}

/** As in kube-scheduler, a DeviceClass that begins or ceases to serve a resource that the pod requests wakes it: its refusal names another reason then. */
function concernsRequests({ shape }: PodRecord, { before, after }: ObjectChange<'DeviceClass'>): boolean {
  if (before?.extendedResourceName === after?.extendedResourceName) return false;
  const { others } = podDemandOf(shape).requests;
  return [before, after].some((record) => others.has(record?.extendedResourceName ?? ''));
}

function usageDiffers(before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  if (nodesVacated(before, after).length > 0 || nodesVacated(after, before).length > 0) return true;
  if (before === undefined || after === undefined || before.shape === after.shape) return false;
  const was = podUsageOf(before.shape);
  const is = podUsageOf(after.shape);
  return differ(was.requests, is.requests) || differ(was.scored, is.scored);
}

/** Nodes on which resources became free: the pod has left them, or requests less on its node or on the node it is nominated to. */
function nodesFreed(before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  const left = nodesVacated(before, after);
  if (before === undefined || after === undefined || before.shape === after.shape) return left;
  // A pod that an event now reports on its node was assumed there before, with its earlier requests.
  const isSmaller = exceeds(podUsageOf(before.shape).requests, podUsageOf(after.shape).requests);
  return isSmaller ? [...left, ...occupiedNodes(after)] : left;
}

/** Whether the pod fits on the node as it is, or after evicting the pods that it may evict. */
function fitsNow(pod: PodRecord, index: ClusterIndex, nodeName: string): boolean {
  const row = index.nodes.row(nodeName);
  if (row === undefined) return false;
  const { requests } = podDemandOf(pod.shape);
  if (fits(requests, index.usage, row)) return true;
  const evictable = evictablePodsOn(nodeName, pod, index);
  return evictable.length > 0 && fitsAfterEvicting(requests, index.usage, row, usedBy(evictable));
}

function usedBy(pods: readonly PodRecord[]): ResourceAmounts & { readonly pods: number } {
  const sum = { pods: pods.length, cpuMilli: 0, memoryBytes: 0, ephemeralStorageBytes: 0 };
  const others = new Map<string, number>();
  for (const { shape } of pods) {
    const { requests } = podUsageOf(shape);
    sum.cpuMilli += requests.cpuMilli;
    sum.memoryBytes += requests.memoryBytes;
    sum.ephemeralStorageBytes += requests.ephemeralStorageBytes;
    for (const [name, amount] of requests.others) others.set(name, (others.get(name) ?? 0) + amount);
  }
  return { ...sum, others };
}

/** Whether the node has more of any resource than before. */
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
