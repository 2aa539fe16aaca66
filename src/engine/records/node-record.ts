import type { ContainerImage, Node, Taint } from '../../kube/api/core.ts';
import type { ResourceList } from '../../kube/api/meta.ts';
import { isRecord } from '../../kube/wire.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import { itemsOf, stringMapOf } from './reading.ts';

export interface NodeRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  readonly taints: readonly Taint[];
  /** What pods may use, as it stands on the wire. */
  readonly allocatable: ResourceList;
  readonly images: readonly ContainerImage[];
  /** What the node says it can do, by name. */
  readonly declaredFeatures: readonly string[];
}

export function haveSameLabels(a: NodeRecord, b: NodeRecord): boolean {
  const keys = Object.keys(a.labels);
  return keys.length === Object.keys(b.labels).length && keys.every((key) => a.labels[key] === b.labels[key]);
}

export function readNode(node: Node): NodeRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(node);
  return {
    key,
    uid,
    version,
    isDeleting,
    labels: stringMapOf(node.metadata?.labels),
    isUnschedulable: node.spec?.unschedulable === true,
    taints: itemsOf(node.spec?.taints),
    allocatable: isRecord(node.status?.allocatable) ? (node.status.allocatable as ResourceList) : {},
    images: itemsOf(node.status?.images),
    declaredFeatures: itemsOf(node.status?.declaredFeatures).filter((name) => typeof name === 'string'),
  };
}
