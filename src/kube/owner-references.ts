import type { KubeObject, OwnerReference } from './api/meta.ts';
import { apiVersionOf, type Resource } from './resource.ts';
import { listOf, textOf } from './wire.ts';

/** The owner that manages the object. The server allows at most one controller. */
export function controllerOf(object: KubeObject | undefined): OwnerReference | undefined {
  return listOf(object?.metadata?.ownerReferences).find((reference) => reference?.controller === true);
}

/**
 * Whether `owner` manages `object`. Only the uid counts: an owner that was deleted and recreated under the same name is
 * another object. An owner without a uid manages nothing.
 */
export function isControlledBy(object: KubeObject | undefined, owner: KubeObject | undefined): boolean {
  const uid = textOf(owner?.metadata?.uid);
  return uid !== '' && controllerOf(object)?.uid === uid;
}

/** The owner reference of a dependent to its controller. */
export function controllerReference(owner: KubeObject, resource: Resource): OwnerReference {
  const { name = '', uid = '' } = owner.metadata ?? {};
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
