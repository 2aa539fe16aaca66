import type { Node, Taint } from '../../kube/api/core.ts';
import { allocatableAmounts } from '../../kube/quantities/resource-amounts.ts';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import { nonNullItems } from '../records/field-readers.ts';
import { matcherHolds } from '../records/node-matcher.ts';
import type { NodeRecord } from '../records/node-record.ts';
import { podNodeAffinityOf } from '../records/pod-node-affinity.ts';
import { isKubernetesTaint, isNodeRemovalTaint } from './node-facts.ts';
import { isDaemonOrStaticPod } from './pod-steps.ts';
import type { RemedyEdit, RemedyStep } from './remedy-step.ts';
import { type SearchContext, WhatIf } from './what-if.ts';

/** Clusters have a handful of node types. */
const templatesMax = 16;

/** One more node of each type that the cluster has and the pod selects; the smallest first. */
export function newNodeSteps({ context, record: pod }: WhatIf): RemedyStep[] {
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
  return [...templates.values()]
    .flatMap((record) => newNode(context, record))
    .sort((a, b) => a.amount - b.amount);
}

/** Not a taint that reports a node's condition: a new node is healthy. */
function belongsToType(taint: Taint): boolean {
  return !isKubernetesTaint(textOf(taint.key)) && !isNodeRemovalTaint(taint);
}

function newNodeName({ index }: SearchContext): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? 'new-node' : `new-node-${number}`;
    if (index.nodes.row(name) === undefined) return name;
  }
}

function newNode(context: SearchContext, template: NodeRecord): RemedyStep[] {
  const object = context.objects.get('Node', template.key);
  if (object === undefined) return [];
  const name = newNodeName(context);
  const { cpuMilli, memoryBytes } = allocatableAmounts(template.allocatable);
  const drivers = context.objects.get('CSINode', template.key);
  const edits: RemedyEdit[] = [{ type: 'create', kind: 'Node', object: named(object, name) }];
  if (drivers !== undefined)
    edits.push({ type: 'create', kind: 'CSINode', object: { ...drivers, metadata: { name } } });
  return [
    {
      action: 'CreateNode',
      scope: '',
      object: { kind: 'Node', name },
      amount: cpuMilli,
      unit: 'millicores',
      from: cpuMilli,
      to: memoryBytes,
      names: [template.key],
      edits: [...edits, ...ownPods(context, template.key, name)],
    },
  ];
}

function named(node: Node, name: string): Node {
  const labels = { ...node.metadata?.labels, [wellKnownLabels.hostname]: name };
  const taints = nonNullItems(node.spec?.taints).filter(belongsToType);
  return { ...node, metadata: { name, labels }, spec: { ...node.spec, taints } };
}

/** DaemonSets and static pods occupy the new node as they occupy the others. */
function ownPods({ index, objects }: SearchContext, template: string, name: string): RemedyEdit[] {
  return [...index.pods.onNode(template)].filter(isDaemonOrStaticPod).flatMap(({ key }) => {
    const object = objects.get('Pod', key);
    if (object === undefined) return [];
    const { namespace = '', name: podName = '', labels = {} } = object.metadata ?? {};
    const own = `${podName}-${name}`;
    const metadata = { namespace, name: own, uid: own, labels };
    return [
      {
        type: 'create',
        kind: 'Pod',
        object: { ...object, metadata, spec: { ...object.spec, nodeName: name } },
      },
    ];
  });
}

/** The pod on a node that does not exist yet. */
export function onNewNode(whatIf: WhatIf): WhatIf {
  return new WhatIf(whatIf.context, newNodeName(whatIf.context), whatIf.pod);
}
