import type { Taint } from '../../kube/api/core.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { WhatIf } from './what-if.ts';

/* What is said of nodes by those who know, and not for people to change as they like. */

const kubernetesTaints = ['node.kubernetes.io/', 'node.cloudprovider.kubernetes.io/'];

/** Whether Kubernetes itself puts the taint on a node, by its condition, and takes it off again. Takes its key, or its whole text. */
export function isKubernetesTaint(taint: string): boolean {
  return kubernetesTaints.some((prefix) => taint.startsWith(prefix));
}

/** Put by whoever is about to take the node away: what is placed there would have to leave at once. */
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
 * Whether a label says what a node is or where it stands: its place, its make, the pool that it was taken from, what drivers go by.
 * Nobody changes those to please a pod; volumes would then be looked for where they are not.
 */
export function isNodeIdentityLabel(label: string, whatIf: WhatIf): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (domain.startsWith('topology.') || makers.has(domain)) return true;
  if (domain === 'node-role.kubernetes.io') return controlPlanes.has(label.slice(slash + 1));
  const drivers = nonNullItems(whatIf.get('CSINode', whatIf.node)?.spec?.drivers);
  return drivers.some(({ topologyKeys }) => nonNullItems(topologyKeys).includes(label));
}

const makers: ReadonlySet<string> = new Set([
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
