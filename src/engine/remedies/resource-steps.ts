import type { Node, Pod } from '../../kube/api/core.ts';
import { podRequests } from '../../kube/quantities/pod-requests.ts';
import { allocatableAmounts } from '../../kube/quantities/resource-amounts.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { amountOf, resourceQuantity } from './amounts.ts';
import { changing, type RemedyStep, type RemedyUnit } from './remedy-step.ts';
import { scaleRequests } from './scale-requests.ts';
import type { WhatIf } from './what-if.ts';

/** Either the node gets more of the resource, or the pod requests less. */
export function resourceSteps(whatIf: WhatIf, { margin }: Finding): RemedyStep[] {
  if (margin?.unit !== 'resource') return [];
  const { resource } = margin;
  const needed = resource === 'pods' ? 1 : amountOf(podRequests(whatIf.pod.spec ?? {}), resource);
  const grown = growNode(whatIf, resource, needed);
  return resource === 'pods' ? [grown] : [grown, ...reduceRequestsSteps(whatIf, resource, needed)];
}

/** Grows by everything that the pod needs, and by what the node is overcommitted; that is always enough. */
function growNode(whatIf: WhatIf, resource: string, needed: number): RemedyStep {
  const { allocatable = {} } = whatIf.index.nodes.get(whatIf.node) ?? {};
  const amounts = allocatableAmounts(allocatable);
  const has = resource === 'pods' ? amounts.pods : amountOf(amounts, resource);
  const overcommitted = Math.max(0, usedOn(whatIf, resource) - has);
  return growNodeBy(whatIf.node, { resource, has }, needed + overcommitted);
}

function growNodeBy(
  node: string,
  what: { readonly resource: string; readonly has: number },
  amount: number,
): RemedyStep {
  const { resource, has } = what;
  const to = has + amount;
  return {
    action: 'GrowNode',
    scope: resource,
    object: { kind: 'Node', name: node },
    amount,
    unit: unitOf(resource),
    from: has,
    to,
    names: [resource],
    edits: [
      changing('Node', node, (object) => withAllocatable(object, resource, resourceQuantity(resource, to))),
    ],
    withAmount: (other) => growNodeBy(node, what, other),
  };
}

function withAllocatable(node: Node, resource: string, quantity: string): Node {
  const allocatable = { ...node.status?.allocatable, [resource]: quantity };
  return { ...node, status: { ...node.status, allocatable } };
}

/** Lowers the request to almost nothing; the search then finds the largest request that fits. A request of 0 would change what the pod is. */
function reduceRequestsSteps(whatIf: WhatIf, resource: string, asked: number): RemedyStep[] {
  const overhead = amountOf(podRequests({ overhead: whatIf.pod.spec?.overhead }), resource);
  const most = asked - overhead - 1;
  return most <= 0 ? [] : [reduceRequestsBy(whatIf.record.key, { resource, asked, overhead }, most)];
}

interface RequestReduction {
  readonly resource: string;
  /** The total request. */
  readonly asked: number;
  /** The part that comes from the pod's runtime class, which its author can't change. */
  readonly overhead: number;
}

function reduceRequestsBy(podKey: string, what: RequestReduction, amount: number): RemedyStep {
  const { resource, asked, overhead } = what;
  const total = asked - amount;
  return {
    action: 'ReduceRequests',
    scope: resource,
    object: { kind: 'Pod', name: podKey },
    amount,
    unit: unitOf(resource),
    from: asked - overhead,
    to: total - overhead,
    names: [resource],
    edits: [{ type: 'change pod', change: (pod: Pod) => scaleRequests(pod, resource, total) }],
    withAmount: (other) => reduceRequestsBy(podKey, what, other),
  };
}

function usedOn({ index, node }: WhatIf, resource: string): number {
  const row = index.nodes.row(node);
  const { usage } = index;
  const columns = {
    pods: usage.pods,
    cpu: usage.cpu,
    memory: usage.memory,
    'ephemeral-storage': usage.ephemeralStorage,
  };
  const column = Object.hasOwn(columns, resource)
    ? columns[resource as keyof typeof columns]
    : usage.other(resource);
  return row === undefined ? 0 : (column?.used[row] ?? 0);
}

function unitOf(resource: string): RemedyUnit {
  if (resource === 'cpu') return 'millicores';
  const isBytes =
    resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
  return isBytes ? 'bytes' : 'units';
}
