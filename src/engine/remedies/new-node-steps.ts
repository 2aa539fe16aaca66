import type { Node } from '../../kube/api/core.ts';
import { resourceText } from '../../kube/quantities/amount-text.ts';
import { podRequests } from '../../kube/quantities/pod-requests.ts';
import { allocatableAmounts } from '../../kube/quantities/resource-amounts.ts';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { matcherHolds } from '../records/node-matcher.ts';
import type { NodeRecord } from '../records/node-record.ts';
import { podNodeAffinityOf } from '../records/pod-shape/pod-node-affinity.ts';
import { amountOf, resourceQuantity } from './amounts.ts';
import { belongsToType, nodeLike, ownPodsOf } from './node-like.ts';
import type { RemedyEdit, RemedyStep } from './remedy-step.ts';
import { type SearchContext, WhatIf } from './what-if.ts';

/** Clusters have a handful of node types. */
const templatesMax = 16;

/** One more node of each type that the cluster has and the pod selects; the smallest first. */
export function newNodeSteps(whatIf: WhatIf): RemedyStep[] {
  return templatesFor(whatIf)
    .flatMap((template) => newNode(whatIf.context, template, []))
    .sort((a, b) => a.amount - b.amount);
}

/**
 * One more node that is large enough for the pod, for a pod that needs more than any node type has; the nodes that differ least from an
 * existing type first.
 */
export function largerNodeSteps(whatIf: WhatIf): RemedyStep[] {
  return templatesFor(whatIf)
    .map((template) => ({ template, raised: raisedResources(whatIf, template) }))
    .filter(({ raised }) => raised.length > 0)
    .sort((a, b) => a.raised.length - b.raised.length || largestFactor(a.raised) - largestFactor(b.raised))
    .flatMap(({ template, raised }) => newNode(whatIf.context, template, raised));
}

function templatesFor({ context, record: pod }: WhatIf): NodeRecord[] {
  const { required } = podNodeAffinityOf(pod.shape);
  const templates = new Map<string, NodeRecord>();
  for (const row of context.index.nodes.rowsByName) {
    const record = context.index.nodes.record(row)!;
    if (record.isUnschedulable) continue;
    if (required !== undefined && !matcherHolds(required, record.key, record.labels)) continue;
    const key = JSON.stringify([
      record.allocatable,
      record.taints.filter(belongsToType),
      record.labels[wellKnownLabels.zone],
    ]);
    if (!templates.has(key)) templates.set(key, record);
    if (templates.size === templatesMax) break;
  }
  return [...templates.values()];
}

interface RaisedResource {
  readonly resource: string;
  readonly has: number;
  readonly to: number;
}

/** The resources of which the node type has less than the pod and the pods of DaemonSets need. */
function raisedResources({ context, pod }: WhatIf, { key, allocatable }: NodeRecord): RaisedResource[] {
  const has = allocatableAmounts(allocatable);
  const pods = [pod, ...ownPodsOf(context, key)].map(({ spec }) => podRequests(spec ?? {}));
  const asked = pods[0]!;
  const names = ['cpu', 'memory', 'ephemeral-storage', ...asked.others.keys()];
  return names.flatMap((resource) => {
    const to = pods.reduce((sum, requests) => sum + amountOf(requests, resource), 0);
    const isShort = amountOf(asked, resource) > 0 && to > amountOf(has, resource);
    return isShort ? [{ resource, has: amountOf(has, resource), to }] : [];
  });
}

function largestFactor(raised: readonly RaisedResource[]): number {
  return Math.max(...raised.map(({ has, to }) => to / has));
}

function newNodeName({ index }: SearchContext): string {
  return freeNodeNames(index, 1)[0]!;
}

export function freeNodeNames(index: ClusterIndex, count: number): string[] {
  const names: string[] = [];
  for (let number = 1; names.length < count; number += 1) {
    const name = number === 1 ? 'new-node' : `new-node-${number}`;
    if (index.nodes.row(name) === undefined) names.push(name);
  }
  return names;
}

function newNode(
  context: SearchContext,
  template: NodeRecord,
  raised: readonly RaisedResource[],
): RemedyStep[] {
  const object = context.objects.get('Node', template.key);
  return object === undefined ? [] : [newNodes(context, { template, object, raised }, 1)];
}

interface NewNode {
  readonly template: NodeRecord;
  readonly object: Node;
  readonly raised: readonly RaisedResource[];
}

function newNodes(context: SearchContext, what: NewNode, count: number): RemedyStep {
  const { template, raised } = what;
  const names = freeNodeNames(context.index, count);
  const { cpuMilli, memoryBytes } = allocatableAmounts({ ...template.allocatable, ...largerAmounts(what) });
  return {
    action: 'CreateNode',
    scope: '',
    object: { kind: 'Node', name: names[0]! },
    amount: cpuMilli,
    unit: 'millicores',
    from: cpuMilli,
    to: memoryBytes,
    names: [template.key],
    remarks: raised.map(
      ({ resource, has, to }) =>
        `${resource} ${resourceText(resource, to, 'up')} (${template.key} has ${resourceText(resource, has, 'down')})`,
    ),
    edits: names.flatMap((name) => newNodeEdits(context, what, name)),
    count,
    repeated: (other) => newNodes(context, what, other),
  };
}

function largerAmounts({ raised }: NewNode): Readonly<Record<string, string>> {
  return Object.fromEntries(raised.map(({ resource, to }) => [resource, resourceQuantity(resource, to)]));
}

function newNodeEdits(context: SearchContext, what: NewNode, name: string): RemedyEdit[] {
  return nodeLike(context, what.template.key, name, largerAmounts(what)).map((created) => ({
    type: 'create',
    ...created,
  }));
}

/** The pod on a node that does not exist yet. */
export function onNewNode(whatIf: WhatIf): WhatIf {
  return new WhatIf(whatIf.context, newNodeName(whatIf.context), whatIf.pod);
}
