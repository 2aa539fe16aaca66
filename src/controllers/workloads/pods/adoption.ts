import type { ResourceClient } from '../../../cluster/cluster.ts';
import type { KubeObject, LabelSelector, OwnerReference } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import {
  type CompiledLabelSelector,
  compileLabelSelector,
  matchesLabels,
} from '../../../kube/selectors/label-selector.ts';

/** The objects that an owner has, adopts and releases. */
export interface DependentClaims<T> {
  readonly mine: readonly T[];
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

/**
 * An owner has the objects that it controls and its selector matches. It adopts objects without a controller that the selector matches, and
 * releases objects that it controls but the selector no longer matches. An owner that is being deleted does neither.
 */
export function claimDependents<T extends KubeObject>(
  owner: KubeObject,
  objects: readonly T[],
  isWanted: (object: T) => boolean,
): DependentClaims<T> {
  const uid = owner.metadata?.uid;
  const isEnding = owner.metadata?.deletionTimestamp !== undefined;
  const mine: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  for (const object of objects) {
    const controller = controllerOf(object);
    if (controller !== undefined && controller.uid !== uid) continue;
    if (controller !== undefined) {
      if (isWanted(object)) mine.push(object);
      else if (!isEnding) release.push(object);
    } else if (!isEnding && object.metadata?.deletionTimestamp === undefined && isWanted(object)) {
      adopt.push(object);
    }
  }
  return { mine, adopt, release };
}

/** An owner's selector; an invalid or missing one matches nothing, so that a typo does not release all objects. */
export function selectorOf(selector: LabelSelector | undefined): CompiledLabelSelector | undefined {
  const compiled = compileLabelSelector(selector);
  return selector !== undefined && compiled.ok ? compiled.selector : undefined;
}

export function isSelectedBy(selector: CompiledLabelSelector, { metadata }: KubeObject): boolean {
  return matchesLabels(selector, metadata?.labels ?? {});
}

/** Executes the result of {@link claimDependents}, each write on the version that was read. Missing objects need nothing. */
export async function adoptAndRelease<T extends KubeObject>(
  client: ResourceClient<T>,
  { adopt, release }: DependentClaims<T>,
  reference: OwnerReference,
  signal: AbortSignal,
): Promise<void> {
  for (const object of adopt) await setOwners(client, object, [...ownersOf(object), reference], signal);
  for (const object of release)
    await setOwners(
      client,
      object,
      ownersOf(object).filter(({ uid }) => uid !== reference.uid),
      signal,
    );
}

/** Writes the owners to the version of the object that was read. */
export async function setOwners<T extends KubeObject>(
  client: ResourceClient<T>,
  { metadata }: T,
  ownerReferences: readonly OwnerReference[],
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
  const body = {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: ownerReferences.length === 0 ? null : ownerReferences,
    },
  };
  try {
    await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}

function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  return metadata?.ownerReferences ?? [];
}
