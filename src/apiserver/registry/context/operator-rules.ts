import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Resource } from '../../../kube/resource.ts';

/**
 * What whoever runs the server adds to objects that are new, where a real server would have an admission plugin. A rule answers the
 * object as it is to be checked and stored; it must neither wait nor throw. A bare server has none.
 */
export interface OperatorRules {
  readonly persistentVolumes?: (volume: PersistentVolume, all: ReadAll) => PersistentVolume;
}

/** All objects of a resource as they are now, of one namespace or of all. They must not be changed. */
export type ReadAll = <T extends KubeObject>(resource: Resource<T>, namespace?: string) => readonly T[];
