import type { Namespace } from '../../kube/api/core.ts';
import { stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import { type PlacementPolicy, readPlacement } from './volume-policy.ts';

/** The fields of a Namespace that the engine uses: pod affinity selects namespaces by label, and an annotation places its volumes. */
export interface NamespaceRecord extends Identity {
  readonly labels: Readonly<Record<string, string>>;
  /** The policy for the volumes of its claims; undefined: the policy of their class applies. */
  readonly placement: PlacementPolicy | undefined;
  readonly problems: readonly string[];
}

export function readNamespace(namespace: Namespace): NamespaceRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(namespace);
  const problems: string[] = [];
  const placement = readPlacement(namespace.metadata?.annotations, problems);
  return {
    key,
    uid,
    version,
    isDeleting,
    labels: stringMapOf(namespace.metadata?.labels),
    placement,
    problems,
  };
}
