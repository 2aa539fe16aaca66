import type { Node } from '../../../kube/core.ts';
import { allocatableAmounts } from '../../../kube/resource-amounts.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { Edit, Step } from './step.ts';
import { type Ground, Trial } from './trial.ts';

/** Clusters have a handful of sorts of nodes. */
const templatesMax = 16;

/** For each sort of node that the cluster has, an empty one more of it; the smallest first. */
export function newNodeSteps(ground: Ground): Step[] {
  const templates = new Map<string, NodeRecord>();
  for (const row of ground.index.nodes.rowsByName) {
    const record = ground.index.nodes.record(row)!;
    if (record.isUnschedulable) continue;
    const key = JSON.stringify([record.allocatable, record.taints, record.labels[wellKnownLabels.zone]]);
    if (!templates.has(key)) templates.set(key, record);
    if (templates.size === templatesMax) break;
  }
  return [...templates.values()]
    .flatMap((record) => newNode(ground, record))
    .sort((a, b) => a.amount - b.amount);
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
      edits,
    },
  ];
}

function named(node: Node, name: string): Node {
  const labels = { ...node.metadata?.labels, [wellKnownLabels.hostname]: name };
  return { ...node, metadata: { name, labels } };
}

/** The pod on a node that isn't there yet. */
export function onNewNode(trial: Trial): Trial {
  return new Trial(trial.ground, newNodeName(trial.ground), trial.pod);
}
