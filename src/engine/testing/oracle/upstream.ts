import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { canProvision, claimClassName, isFullyBound } from '../../../kube/volumes.ts';
import { canAttachUpstream, volumesByClaims } from './attach.ts';
import { claimsOf, type OracleCluster, objectKey, objectName, requestOf, selectedNodeOf } from './cluster.ts';
import { poolsFor } from './pools.ts';
import { allowsNode, isBoundReachable, isInZone, isReachable } from './reach.ts';
import { reasons } from './reasons.ts';
import type { Assignment, OracleNodeAnswer } from './stowage.ts';
import { compareVolumeObjects, freeVolumesFor, preboundVolumes, volumeSize } from './volumes.ts';

/** Profile `upstream`: kube-scheduler's filters in their order. The first filter that refuses a node decides its reasons. */
export function filterUpstream(cluster: OracleCluster, pod: Pod, node: Node): OracleNodeAnswer {
  if (!canAttachUpstream(cluster, node, volumesByClaims(cluster, pod, objectName(node))))
    return { kind: 'refused', reasons: [reasons.tooManyVolumes] };
  const claims = claimsOf(pod).map(({ key }) => cluster.claim(key)!);
  const boundReason = refuseBound(cluster, node, claims.filter(isFullyBound));
  const found = bindGreedily(
    cluster,
    node,
    claims.filter((claim) => !isFullyBound(claim)),
  );
  const binding = [boundReason, typeof found === 'string' ? found : undefined].filter(
    (text) => text !== undefined,
  );
  if (binding.length > 0) return { kind: 'refused', reasons: binding };
  const isZoned = claimsOf(pod).every(({ key, isEphemeral }) => {
    const volume = isEphemeral ? undefined : cluster.volume(cluster.claim(key)?.spec?.volumeName ?? '');
    return volume === undefined || isInZone(volume, node);
  });
  if (!isZoned) return { kind: 'refused', reasons: [reasons.zone] };
  return { kind: 'fits', assignment: found as Assignment };
}

/** The reason of the first bound claim that fails, in the pod's order. */
function refuseBound(
  cluster: OracleCluster,
  node: Node,
  claims: readonly PersistentVolumeClaim[],
): string | undefined {
  for (const claim of claims) {
    const volume = cluster.volume(claim.spec?.volumeName ?? '');
    if (volume === undefined) return reasons.volumeMissing;
    if (!isBoundReachable(cluster, volume, node)) return reasons.volumeElsewhere;
  }
  return undefined;
}

/** Smallest claim first, each gets the smallest remaining volume, without backtracking. The remaining claims are provisioned. */
function bindGreedily(
  cluster: OracleCluster,
  node: Node,
  claims: readonly PersistentVolumeClaim[],
): Assignment | string {
  const pinned = claims.filter((claim) => selectedNodeOf(claim) !== undefined);
  if (pinned.some((claim) => selectedNodeOf(claim) !== objectName(node))) return reasons.noVolume;
  const free = claims.filter((claim) => !pinned.includes(claim)).sort(byRequest);
  const taken = new Map<PersistentVolumeClaim, PersistentVolume>();
  for (const claim of free) {
    const volume = bestVolume(cluster, node, claim, [...taken.values()]);
    if (volume !== undefined) taken.set(claim, volume);
  }
  const made = [...pinned, ...free.filter((claim) => !taken.has(claim))];
  for (const claim of made) {
    const reason = refuseProvisioning(cluster, node, claim);
    if (reason !== undefined) return reason;
  }
  return assignmentOf(taken, made);
}

function byRequest(a: PersistentVolumeClaim, b: PersistentVolumeClaim): number {
  const [left, right] = [requestOf(a) ?? 0n, requestOf(b) ?? 0n];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** A volume whose claimRef names the claim comes first. If the node doesn't reach it, the claim can use no other. */
function bestVolume(
  cluster: OracleCluster,
  node: Node,
  claim: PersistentVolumeClaim,
  taken: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const prebound = preboundVolumes(cluster, claim);
  if (prebound.length > 0)
    return prebound.sort(compareVolumeObjects).find((volume) => isReachable(cluster, volume, node));
  return freeVolumesFor(cluster, claim, node).find((volume) => !taken.includes(volume));
}

function refuseProvisioning(
  cluster: OracleCluster,
  node: Node,
  claim: PersistentVolumeClaim,
): string | undefined {
  const storageClass = cluster.classOf(claim)!;
  if (!canProvision(storageClass) || !allowsNode(storageClass, node)) return reasons.noVolume;
  const request = requestOf(claim);
  if (request === undefined) return undefined;
  const pools = poolsFor(cluster, storageClass.provisioner ?? '', claimClassName(claim));
  if (pools === undefined) return undefined;
  const hasCapacity = pools.some(
    ({ limit, isReachedFrom }) => limit !== undefined && limit >= request && isReachedFrom(node),
  );
  return hasCapacity ? undefined : reasons.noSpace;
}

function assignmentOf(
  taken: ReadonlyMap<PersistentVolumeClaim, PersistentVolume>,
  made: readonly PersistentVolumeClaim[],
): Assignment {
  let waste = 0n;
  for (const [claim, volume] of taken) waste += volumeSize(volume)! - (requestOf(claim) ?? 0n);
  return {
    volumes: new Map([...taken].map(([claim, volume]) => [objectKey(claim), objectName(volume)])),
    provisioned: new Map(made.map((claim) => [objectKey(claim), undefined])),
    waste,
  };
}
