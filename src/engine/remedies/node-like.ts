import type { Node, Pod, ResourceList, Taint } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { nonNullItems } from '../records/field-readers.ts';
import { isKubernetesTaint, isNodeRemovalTaint } from './node-facts.ts';
import { isDaemonOrStaticPod } from './pod-steps.ts';
import type { ObjectSource } from './remedy-step.ts';

export interface NodeTemplates {
  readonly index: ClusterIndex;
  readonly objects: ObjectSource;
}

export interface CreatedObject {
  readonly kind: IndexedKind;
  readonly object: KubeObject;
}

/** The objects of a healthy new node like an existing one: Node, CSINode, and the pods of DaemonSets that would run there. */
export function nodeLike(
  templates: NodeTemplates,
  template: string,
  name: string,
  larger: ResourceList = {},
): readonly CreatedObject[] {
  const node = templates.objects.get('Node', template);
  if (node === undefined) return [];
  const drivers = templates.objects.get('CSINode', template);
  return [
    { kind: 'Node', object: renamed(node, template, name, larger) },
    ...(drivers === undefined
      ? []
      : [{ kind: 'CSINode', object: { ...drivers, metadata: { name } } } as const]),
    ...ownPodsOf(templates, template).map((pod) => ({ kind: 'Pod', object: onNode(pod, name) }) as const),
  ];
}

/** DaemonSets and static pods occupy a new node as they occupy the others. */
export function ownPodsOf({ index, objects }: NodeTemplates, node: string): readonly Pod[] {
  return [...index.pods.onNode(node)]
    .filter(isDaemonOrStaticPod)
    .flatMap(({ key }) => objects.get('Pod', key) ?? []);
}

/** Not a taint that reports a node's condition: a new node is healthy. */
export function belongsToType(taint: Taint): boolean {
  return !isKubernetesTaint(textOf(taint.key)) && !isNodeRemovalTaint(taint);
}

function renamed(node: Node, template: string, name: string, larger: ResourceList): Node {
  // Drivers name the node in labels of their own, which the topology of their volumes refers to.
  const own = Object.entries(node.metadata?.labels ?? {}).filter(([, value]) => value === template);
  const labels = {
    ...node.metadata?.labels,
    ...Object.fromEntries(own.map(([key]) => [key, name])),
    [wellKnownLabels.hostname]: name,
  };
  const taints = nonNullItems(node.spec?.taints).filter(belongsToType);
  const { unschedulable: _, ...spec } = node.spec ?? {};
  const allocatable = { ...node.status?.allocatable, ...larger };
  return {
    ...node,
    metadata: { name, labels },
    spec: { ...spec, taints },
    status: { ...node.status, allocatable },
  };
}

function onNode(pod: Pod, nodeName: string): Pod {
  const { namespace = '', name: podName = '', labels = {}, ownerReferences = [] } = pod.metadata ?? {};
  const name = `${podName}-${nodeName}`;
  const metadata = { namespace, name, uid: name, labels, ownerReferences };
  return { ...pod, metadata, spec: { ...pod.spec, nodeName } };
}
