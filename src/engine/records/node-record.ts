import type { Node } from '../../kube/core.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import { stringMapOf } from './reading.ts';

export interface NodeRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
}

export function haveSameLabels(a: NodeRecord, b: NodeRecord): boolean {
  const keys = Object.keys(a.labels);
  return keys.length === Object.keys(b.labels).length && keys.every((key) => a.labels[key] === b.labels[key]);
}

export function readNode(node: Node): NodeRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(node);
  return { key, uid, version, isDeleting, labels: stringMapOf(node.metadata?.labels) };
}
