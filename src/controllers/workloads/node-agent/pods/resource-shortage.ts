import type { Node, Pod } from '../../../../kube/api/core.ts';
import { podRequests } from '../../../../kube/quantities/pod-requests.ts';
import { allocatableAmounts, type ResourceAmounts } from '../../../../kube/quantities/resource-amounts.ts';

/** A resource of which a node has too little left for a pod; cpu in thousandths. */
export interface ResourceShortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

/**
 * The first resource that the node lacks for the pod in addition to the others, in the order of a kubelet's checks.
 *
 * A kubelet always reports its pods, cores and bytes, and a missing one counts as 0. Simulated nodes have what a user
 * set, so a missing resource is not limited. A kubelet, too, ignores extended resources that it does not know.
 */
export function shortageOf(pod: Pod, node: Node, others: readonly Pod[]): ResourceShortage | undefined {
  const listed = node.status?.allocatable ?? node.status?.capacity;
  if (listed === undefined) return undefined;
  const allocatable = allocatableAmounts(listed);
  const podCount = { resource: 'pods', requested: 1, used: others.length, capacity: allocatable.pods };
  if ('pods' in listed && isShort(podCount)) return podCount;
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

/** The resources with a request above 0. */
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
