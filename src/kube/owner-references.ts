import type { KubeObject, OwnerReference } from './api/meta.ts';
import { listOf, textOf } from './wire.ts';

/** The owner that manages the object; the server lets at most one owner be the controller. */
export function controllerOf(object: KubeObject | undefined): OwnerReference | undefined {
  return listOf(object?.metadata?.ownerReferences).find((reference) => reference?.controller === true);
}

/**
 * Whether `owner` manages `object`, by uid and nothing else: an owner deleted and made anew under its old name is
 * somebody else. An owner without a uid manages nothing.
 */
export function isControlledBy(object: KubeObject | undefined, owner: KubeObject | undefined): boolean {
  const uid = textOf(owner?.metadata?.uid);
  return uid !== '' && controllerOf(object)?.uid === uid;
}
