import type { StorageClass } from '../../kube/api/storage.ts';
import { compileTopologySelector } from '../../kube/selectors/topology-selector.ts';
import { canProvision, isDelayedBinding } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import type { Interner } from './interner.ts';
import { everyNode, matcherOfSelector, type NodeMatcher } from './node-matcher.ts';

/** The fields of a StorageClass that the engine uses. */
export interface ClassRecord extends Identity {
  readonly provisioner: string;
  readonly canProvision: boolean;
  /** WaitForFirstConsumer: the scheduler chooses the volume. */
  readonly isDelayed: boolean;
  /** False if the field is missing. A real API server always sets it. */
  readonly hasBindingMode: boolean;
  readonly allowedNodes: NodeMatcher;
  readonly problems: readonly string[];
}

export function readClass(storageClass: StorageClass, interner: Interner): ClassRecord {
  const allowed = compileTopologySelector(storageClass.allowedTopologies);
  const { key, uid, version, isDeleting } = clusterIdentity(storageClass);
  return {
    key,
    uid,
    version,
    isDeleting,
    provisioner: interner.text(textOf(storageClass.provisioner)),
    canProvision: canProvision(storageClass),
    isDelayed: isDelayedBinding(storageClass),
    hasBindingMode: textOf(storageClass.volumeBindingMode) !== '',
    allowedNodes: interner.matcher(allowed === undefined ? everyNode : matcherOfSelector(allowed)),
    problems: allowed?.problems ?? [],
  };
}
