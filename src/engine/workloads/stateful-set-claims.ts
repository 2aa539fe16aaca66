import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/meta.ts';
import { controllerReference } from '../../kube/owner-references.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { pods, statefulSets } from '../../kube/resources.ts';
import { claimNameOf, isInRange, ordinalOf } from './stateful-set-members.ts';

/** The claims that the member of this ordinal needs. They have the set's labels as well as their own. */
export function claimsFor(set: StatefulSet, ordinal: number): readonly PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const { annotations, finalizers, labels } = metadata ?? {};
    const ownerReferences =
      policyOf(set).whenDeleted === 'Delete' ? [controllerReference(set, statefulSets)] : [];
    return {
      metadata: {
        namespace: set.metadata?.namespace ?? '',
        name: claimNameOf(set, metadata?.name ?? '', ordinal),
        labels: { ...labels, ...set.spec?.selector?.matchLabels },
        ...(annotations === undefined ? {} : { annotations }),
        ...(finalizers === undefined ? {} : { finalizers }),
        ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
      },
      ...(spec === undefined ? {} : { spec }),
    };
  });
}

/**
 * The owner that the claim needs so that it is deleted as the retention policy says: the set, for claims that are deleted with it; the pod, for
 * claims of a pod that is scaled down. Undefined if the claim's owners are right, or must not be changed:
 *
 * - another controller owns it;
 * - it names an earlier set or pod of the same name: the garbage collector handles it.
 */
export function ownersToSet(
  set: StatefulSet,
  pod: Pod,
  claim: PersistentVolumeClaim,
): readonly OwnerReference[] | undefined {
  const owners = claim.metadata?.ownerReferences ?? [];
  if (namesPredecessor(owners, set, statefulSets) || namesPredecessor(owners, pod, pods)) return undefined;
  const others = owners.filter((owner) => !isNamed(owner, set, statefulSets) && !isNamed(owner, pod, pods));
  const wanted =
    others.some(({ controller }) => controller === true) && !isRetained(set) ? [] : ownersBy(set, pod);
  const ours = owners.filter((owner) => !others.includes(owner));
  const isRight =
    ours.length === wanted.length &&
    wanted.every(({ uid }) => ours.some((owner) => owner.uid === uid && owner.controller === true));
  return isRight ? undefined : [...others, ...wanted];
}

/** The claim is being deleted with an earlier pod of this name: a new pod has to wait until it no longer exists. */
export function isLeftOver(set: StatefulSet, podName: string, claim: PersistentVolumeClaim): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false;
  const pod = { metadata: { name: podName } };
  return (claim.metadata?.ownerReferences ?? []).some((owner) => isNamed(owner, pod, pods));
}

/** Whether the claims of this member are deleted after its pod: it is scaled away, and the retention policy says so. */
export function areClaimsScaledAway(set: StatefulSet, pod: Pod): boolean {
  return policyOf(set).whenScaled === 'Delete' && !isInRange(set, ordinalOf(pod) ?? -1);
}

function ownersBy(set: StatefulSet, pod: Pod): readonly OwnerReference[] {
  if (areClaimsScaledAway(set, pod)) return [controllerReference(pod, pods)];
  return policyOf(set).whenDeleted === 'Delete' ? [controllerReference(set, statefulSets)] : [];
}

function policyOf({ spec }: StatefulSet) {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

function isRetained(set: StatefulSet): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  return whenDeleted === 'Retain' && whenScaled === 'Retain';
}

function namesPredecessor(
  owners: readonly OwnerReference[],
  object: KubeObject,
  resource: Resource,
): boolean {
  return owners.some((owner) => isNamed(owner, object, resource) && owner.uid !== object.metadata?.uid);
}

function isNamed(owner: OwnerReference, { metadata }: KubeObject, resource: Resource): boolean {
  return (
    owner.apiVersion === apiVersionOf(resource) &&
    owner.kind === resource.kind &&
    owner.name === metadata?.name
  );
}
