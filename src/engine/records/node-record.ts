import type { ContainerImage, Node, ResourceList, Taint } from '../../kube/api/core.ts';
import { isRecord } from '../../kube/wire.ts';
import { nonNullItems, stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';

/** The fields of a Node that the engine uses. */
export interface NodeRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  readonly taints: readonly Taint[];
  /** As in the object, not parsed. */
  readonly allocatable: ResourceList;
  readonly images: readonly ContainerImage[];
  /** The names in `status.declaredFeatures`. */
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
