import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Resource } from '../../../kube/resource.ts';

/**
 * Rules of the operator for new objects, in place of admission plugins. A rule returns the object to validate and
 * store; it must neither await nor throw. There are none by default.
 */
export interface OperatorRules {
  readonly persistentVolumes?: (volume: PersistentVolume, all: ReadAll) => PersistentVolume;
}

/** All current objects of a resource, in one namespace or all. Callers must not change them. */
export type ReadAll = <T extends KubeObject>(resource: Resource<T>, namespace?: string) => readonly T[];
