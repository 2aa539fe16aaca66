import type { Node } from '../../kube/core.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import { stringMapOf } from './reading.ts';

export interface NodeRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
}

export function readNode(node: Node): NodeRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(node);
  return { key, uid, version, isDeleting, labels: stringMapOf(node.metadata?.labels) };
}
