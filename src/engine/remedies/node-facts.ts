import type { Taint } from '../../kube/api/core.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { WhatIf } from './what-if.ts';

/* Taints and labels of a node that state facts, and that users should not change to place a pod. */

const kubernetesTaints = ['node.kubernetes.io/', 'node.cloudprovider.kubernetes.io/'];

/** Whether Kubernetes itself adds the taint for the node's condition, and removes it again. `taint` is its key, or its whole text. */
export function isKubernetesTaint(taint: string): boolean {
  return kubernetesTaints.some((prefix) => taint.startsWith(prefix));
}

/** A taint that announces the removal of the node: a pod placed there would be evicted immediately. */
export function isNodeRemovalTaint({ key = '' }: Taint): boolean {
  return nodeRemovalTaints.has(key);
}

const nodeRemovalTaints: ReadonlySet<string> = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'karpenter.sh/disrupted',
  'node.kubernetes.io/out-of-service',
  'node.cloudprovider.kubernetes.io/shutdown',
]);

/**
 * Whether a label states what or where a node is: its topology, its machine type, its node pool, or the topology keys of CSI drivers.
 * Changing such a label would make the scheduler look for volumes on the wrong nodes.
 */
export function isNodeIdentityLabel(label: string, whatIf: WhatIf): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (domain.startsWith('topology.') || providerDomains.has(domain)) return true;
  if (domain === 'node-role.kubernetes.io') return controlPlanes.has(label.slice(slash + 1));
  const drivers = nonNullItems(whatIf.get('CSINode', whatIf.node)?.spec?.drivers);
  return drivers.some(({ topologyKeys }) => nonNullItems(topologyKeys).includes(label));
}

const providerDomains: ReadonlySet<string> = new Set([
  'kubernetes.io',
  'node.kubernetes.io',
  'beta.kubernetes.io',
  'failure-domain.beta.kubernetes.io',
  'cloud.google.com',
  'eks.amazonaws.com',
  'kubernetes.azure.com',
  'karpenter.sh',
  'karpenter.k8s.aws',
]);
const controlPlanes: ReadonlySet<string> = new Set(['control-plane', 'master']);
