import type { Namespace } from '../../kube/api/core.ts';
import { stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';

/** The fields of a Namespace that the engine uses: pod affinity selects namespaces by label. */
export interface NamespaceRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
}

export function readNamespace(namespace: Namespace): NamespaceRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(namespace);
  return { key, uid, version, isDeleting, labels: stringMapOf(namespace.metadata?.labels) };
}
