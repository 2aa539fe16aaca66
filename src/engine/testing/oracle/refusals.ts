import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import { parseQuantity, quantityToNano } from '../../../kube/quantities/quantity.ts';
import { compileLabelSelector } from '../../../kube/selectors/label-selector.ts';
import { isDelayedBinding, isFullyBound } from '../../../kube/volumes.ts';
import { type ClaimUse, claimsOf, isDeleting, type OracleCluster, objectKey, objectName } from './cluster.ts';
import { inlineSizes } from './pools.ts';

/** kube-scheduler's message if the pod is refused before any node is checked, else undefined. */
export function podRefusal(cluster: OracleCluster, pod: Pod): string | undefined {
  const uses = claimsOf(pod);
  for (const refusal of [
    () => malformedPod(cluster, pod),
    () => firstOf(uses, (use) => missingClaim(cluster, use)),
    () => firstOf(uses, (use) => unusableClaim(cluster, pod, use)),
    () => firstOf(uses, (use) => unboundClaim(cluster, use)),
    () => firstOf(uses, (use) => missingVolume(cluster, use)),
  ]) {
    const text = refusal();
    if (text !== undefined) return text;
  }
  return undefined;
}

function firstOf(
  uses: readonly ClaimUse[],
  check: (use: ClaimUse) => string | undefined,
): string | undefined {
  for (const use of uses) {
    const text = check(use);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Kubernetes has no field for the size of inline volumes, so kube-scheduler can't refuse it. */
function malformedPod(cluster: OracleCluster, pod: Pod): string | undefined {
  if (cluster.isUpstream) return undefined;
  const problem = inlineSizes(pod).find(({ text }) => sizeProblem(text, '') !== undefined);
  if (problem === undefined) return undefined;
  const field = `spec.volumes[${problem.volumeName}].csi.fsSize`;
  return `pod "${objectKey(pod)}" is malformed: ${sizeProblem(problem.text, field)}`;
}

/** kube-scheduler's VolumeRestrictions looks up the claims that the pod names directly, before VolumeBinding runs. */
function missingClaim(cluster: OracleCluster, { key, name, isEphemeral }: ClaimUse): string | undefined {
  if (isEphemeral || cluster.claim(key) !== undefined) return undefined;
  return `persistentvolumeclaim "${name}" not found`;
}

function unusableClaim(
  cluster: OracleCluster,
  pod: Pod,
  { key, name, isEphemeral }: ClaimUse,
): string | undefined {
  const claim = cluster.claim(key);
  if (claim === undefined)
    return `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`;
  if (claim.status?.phase === 'Lost') {
    const volume = claim.spec?.volumeName ?? '';
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volume}"`;
  }
  if (isDeleting(claim)) return `persistentvolumeclaim "${name}" is being deleted`;
  if (isEphemeral && controllerOf(claim)?.uid !== pod.metadata?.uid)
    return `PVC ${key} was not created for pod ${objectKey(pod)} (pod is not owner)`;
  return undefined;
}

/** The scheduler binds only unbound claims of a WaitForFirstConsumer class. */
function unboundClaim(cluster: OracleCluster, { key, name }: ClaimUse): string | undefined {
  const claim = cluster.claim(key)!;
  if (isFullyBound(claim)) return undefined;
  const storageClass = cluster.classOf(claim);
  const isPrebound = (claim.spec?.volumeName ?? '') !== '';
  if (storageClass !== undefined && !storageClass.volumeBindingMode && !isPrebound)
    return `VolumeBindingMode not set for StorageClass "${objectName(storageClass)}"`;
  if (isPrebound || !isDelayedBinding(storageClass))
    return 'pod has unbound immediate PersistentVolumeClaims';
  const problem = claimProblem(claim);
  return problem === undefined ? undefined : `persistentvolumeclaim "${name}" is malformed: ${problem}`;
}

/** kube-scheduler's VolumeZone looks up the volumes of claims that the pod names directly, before it checks any node. */
function missingVolume(cluster: OracleCluster, { key, isEphemeral }: ClaimUse): string | undefined {
  if (!cluster.isUpstream || isEphemeral) return undefined;
  const volumeName = cluster.claim(key)?.spec?.volumeName ?? '';
  if (volumeName === '' || cluster.volume(volumeName) !== undefined) return undefined;
  return `persistentvolume "${volumeName}" not found`;
}

function claimProblem(claim: PersistentVolumeClaim): string | undefined {
  const requested = claim.spec?.resources?.requests?.storage;
  const problem = sizeProblem(requested, 'spec.resources.requests.storage');
  if (problem !== undefined || !claim.spec?.selector) return problem;
  const compiled = compileLabelSelector(claim.spec.selector, 'spec.selector');
  return compiled.ok ? undefined : compiled.problem;
}

function sizeProblem(text: unknown, field: string): string | undefined {
  if (text === undefined || text === null) return undefined;
  const parsed = parseQuantity(text, field);
  if (!parsed.ok) return parsed.problem;
  if (quantityToNano(parsed.quantity) >= 0n) return undefined;
  return `${field}: "${String(text)}" is negative; must be zero or more`;
}
