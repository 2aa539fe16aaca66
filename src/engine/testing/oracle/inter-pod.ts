/** The objects that oracles for inter-pod rules read, in plain maps that they scan. */

import type { ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { Namespace, Node, Pod, ReplicationController, Service } from '../../../kube/api/core.ts';
import type { LabelSelector } from '../../../kube/api/meta.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';

export interface InterPodCluster {
  readonly Node: ReadonlyMap<string, Node>;
  readonly Pod: ReadonlyMap<string, Pod>;
  readonly Namespace: ReadonlyMap<string, Namespace>;
  readonly Service: ReadonlyMap<string, Service>;
  readonly ReplicationController: ReadonlyMap<string, ReplicationController>;
  readonly ReplicaSet: ReadonlyMap<string, ReplicaSet>;
  readonly StatefulSet: ReadonlyMap<string, StatefulSet>;
}

/** kube-scheduler's reason if the node is refused, else the score; by node. */
export type RuleAnswers = Readonly<Record<string, string | number>>;

export interface PlacedPod {
  readonly pod: Pod;
  readonly node: Node;
}

export function placedPods(cluster: InterPodCluster): PlacedPod[] {
  return [...cluster.Pod.values()].flatMap((pod) => {
    const node = cluster.Node.get(pod.spec?.nodeName ?? '');
    const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    return node === undefined || isFinished ? [] : [{ pod, node }];
  });
}

export function labelsOf(object: Node | Pod | Namespace | undefined): Readonly<Record<string, string>> {
  return object?.metadata?.labels ?? {};
}

export function matches(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  const compiled = compileLabelSelector(selector);
  return compiled.ok && matchesLabels(compiled.selector, labels);
}

export function addCount<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
