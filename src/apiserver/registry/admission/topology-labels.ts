import type { Pod } from '../../../kube/api/stored/core.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** A pod created with a node name gets the node's zone and region, as a pod bound later does. */
export function copyTopologyLabels(context: RegistryContext, attempt: WriteAttempt): void {
  if (!isKind(attempt, '', 'Pod') || attempt.operation !== 'CREATE') return;
  const pod = attempt.object as Pod;
  const labels = topologyLabels(context, pod.spec?.nodeName ?? '');
  if (Object.keys(labels).length > 0) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
}

/** The topology labels of a node; empty if the node does not exist. */
export function topologyLabels(context: RegistryContext, nodeName: string): Readonly<Record<string, string>> {
  const nodes = context.kinds.byPlural('v1', 'nodes');
  const found =
    nodeName === '' || nodes === undefined ? undefined : findObject(context, nodes, { name: nodeName });
  const labels = found?.snapshot.object.metadata.labels ?? {};
  return Object.fromEntries(Object.entries(labels).filter(([key]) => copied.includes(key)));
}
