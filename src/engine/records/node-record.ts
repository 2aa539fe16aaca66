import type { ContainerImage, Node, ResourceList, Taint } from '../../kube/api/core.ts';
import { isRecord } from '../../kube/wire.ts';
import { nonNullItems, stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';

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

export function readNode(node: Node): NodeRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(node);
  return {
    key,
    uid,
    version,
    isDeleting,
    labels: stringMapOf(node.metadata?.labels),
    isUnschedulable: node.spec?.unschedulable === true,
    taints: nonNullItems(node.spec?.taints),
    allocatable: isRecord(node.status?.allocatable) ? (node.status.allocatable as ResourceList) : {},
    images: nonNullItems(node.status?.images),
    declaredFeatures: nonNullItems(node.status?.declaredFeatures).filter((name) => typeof name === 'string'),
  };
}
