import type { Node, Taint } from '../../kube/api/core.ts';
import { allocatableAmounts } from '../../kube/quantities/resource-amounts.ts';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import { matcherHolds } from '../records/node-matcher.ts';
import type { NodeRecord } from '../records/node-record.ts';
import { podNodes } from '../records/pod-node-affinity.ts';
import { itemsOf } from '../records/field-readers.ts';
import { isFarewellTaint, isKubernetesTaint } from './node-facts.ts';
import { comesWithNode } from './pod-steps.ts';
import type { Edit, Step } from './remedy-step.ts';
import { type Ground, Trial } from './what-if.ts';

/** Clusters have a handful of sorts of nodes. */
const templatesMax = 16;

/** For each sort of node that the cluster has and the pod asks for, one more of it; the smallest first. */
export function newNodeSteps({ ground, record: pod }: Trial): Step[] {
  const { required } = podNodes(pod.shape);
  const templates = new Map<string, NodeRecord>();
  for (const row of ground.index.nodes.rowsByName) {
    const record = ground.index.nodes.record(row)!;
    if (record.isUnschedulable) continue;
    if (required !== undefined && !matcherHolds(required, record.key, record.labels)) continue;
    const key = JSON.stringify([
      record.allocatable,
      record.taints.filter(comesWithSort),
      record.labels[wellKnownLabels.zone],
    ]);
    if (!templates.has(key)) templates.set(key, record);
    if (templates.size === templatesMax) break;
  }
  return [...templates.values()]
    .flatMap((record) => newNode(ground, record))
    .sort((a, b) => a.amount - b.amount);
}

/** Not what its own condition has put there: a new node is well. */
function comesWithSort(taint: Taint): boolean {
  return !isKubernetesTaint(textOf(taint.key)) && !isFarewellTaint(taint);
}

function newNodeName({ index }: Ground): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? 'new-node' : `new-node-${number}`;
    if (index.nodes.row(name) === undefined) return name;
  }
}

function newNode(ground: Ground, template: NodeRecord): Step[] {
  const object = ground.objects.get('Node', template.key);
  if (object === undefined) return [];
  const name = newNodeName(ground);
  const { cpuMilli, memoryBytes } = allocatableAmounts(template.allocatable);
  const drivers = ground.objects.get('CSINode', template.key);
  const edits: Edit[] = [{ type: 'create', kind: 'Node', object: named(object, name) }];
  if (drivers !== undefined)
    edits.push({ type: 'create', kind: 'CSINode', object: { ...drivers, metadata: { name } } });
  return [
    {
      sort: 'CreateNode',
      scope: '',
      object: { kind: 'Node', name },
      amount: cpuMilli,
      unit: 'millicores',
      from: cpuMilli,
      to: memoryBytes,
      names: [template.key],
      edits: [...edits, ...ownPods(ground, template.key, name)],
    },
  ];
}

function named(node: Node, name: string): Node {
  const labels = { ...node.metadata?.labels, [wellKnownLabels.hostname]: name };
  const taints = itemsOf(node.spec?.taints).filter(comesWithSort);
  return { ...node, metadata: { name, labels }, spec: { ...node.spec, taints } };
}

/** A node isn't empty for long: DaemonSets put on it what they have put on the others. */
function ownPods({ index, objects }: Ground, template: string, name: string): Edit[] {
  return [...index.pods.onNode(template)].filter(comesWithNode).flatMap(({ key }) => {
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

/** The pod on a node that isn't there yet. */
export function onNewNode(trial: Trial): Trial {
  return new Trial(trial.ground, newNodeName(trial.ground), trial.pod);
}
