import type { Node, Pod } from '../../../kube/api/core.ts';
import { podRequests } from '../../../kube/quantities/pod-requests.ts';
import { allocatableAmounts, type ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';

/** A resource of which a node has too little left for a pod; cpu in thousandths. */
export interface ResourceShortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

/**
 * The first resource that the node lacks for the pod next to the others, in the order in which a kubelet looks.
 *
 * A kubelet always says how many pods, cores and bytes it has, and one that says nothing has none. Simulated nodes say what somebody
 * gave them, so that what they leave out is no limit. A kubelet, too, ignores extended resources that it does not know.
 */
export function shortageOf(pod: Pod, node: Node, others: readonly Pod[]): ResourceShortage | undefined {
  const listed = node.status?.allocatable ?? node.status?.capacity;
  if (listed === undefined) return undefined;
  const allocatable = allocatableAmounts(listed);
  const crowd = { resource: 'pods', requested: 1, used: others.length, capacity: allocatable.pods };
  if ('pods' in listed && isShort(crowd)) return crowd;
  const wanted = podRequests(pod.spec ?? {});
  const names = namesOf(wanted).filter((name) => name in listed || name.startsWith('hugepages-'));
  if (names.length === 0) return undefined;
  const taken = others.map(({ spec }) => podRequests(spec ?? {}));
  for (const resource of names) {
    const used = taken.reduce((sum, amounts) => sum + amountIn(amounts, resource), 0);
    const requested = amountIn(wanted, resource);
    const shortage = { resource, requested, used, capacity: amountIn(allocatable, resource) };
    if (isShort(shortage)) return shortage;
  }
  return undefined;
}

function isShort({ requested, used, capacity }: ResourceShortage): boolean {
  return requested > capacity - used;
}

/** What is asked for, more than nothing of it. */
function namesOf(wanted: ResourceAmounts): readonly string[] {
  const names = ['cpu', 'memory', 'ephemeral-storage', ...[...wanted.others.keys()].sort()];
  return names.filter((name) => amountIn(wanted, name) > 0);
}

function amountIn(amounts: ResourceAmounts, name: string): number {
  if (name === 'cpu') return amounts.cpuMilli;
  if (name === 'memory') return amounts.memoryBytes;
  if (name === 'ephemeral-storage') return amounts.ephemeralStorageBytes;
  return amounts.others.get(name) ?? 0;
}
