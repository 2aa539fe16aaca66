import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { PodClaim, PodRecord } from '../../records/pod-record.ts';
import type { Cycle } from '../framework/cycle.ts';
import { type PodRefusal, type Prepared, skip } from '../framework/rule.ts';
import { type PodReason, podMessage } from '../reasons.ts';
import { boundNeed, type VolumeNeeds, wantOfClaim, wantsOfInline } from './needs.ts';

/** Checks all claims of the pod before any node. A claim that is missing, or that the scheduler may not bind, refuses the pod on every node. */
export function prepareNeeds(cycle: Cycle): Prepared<VolumeNeeds> {
  const { index, pod } = cycle;
  if (pod.claims.length === 0 && pod.inlineVolumes.length === 0) return skip;
  const absent = absentClaims(index, pod);
  if (absent.length > 0) return { kind: 'refuse', refusals: absent };
  const claims = pod.claims.map(({ key }) => index.claims.get(key)!);
  const unready = [
    ...claims.flatMap((claim) => unreadyClaim(index, pod, claim)),
    ...malformedVolumes(index, pod),
  ];
  if (unready.length > 0) return { kind: 'refuse', refusals: unready };
  return { kind: 'ready', state: needsOf(index, pod, claims) };
}

/** The pod's volumes, bound and wanted. All claims exist and are valid. */
function needsOf(index: ClusterIndex, pod: PodRecord, claims: readonly ClaimRecord[]): VolumeNeeds {
  const wanted = claims.filter((claim) => !claim.isBound);
  return {
    bound: claims.filter((claim) => claim.isBound).map((claim) => boundNeed(index, claim)),
    requests: [
      ...wanted.map((claim, position) => wantOfClaim(index, claim, { position, pod })),
      ...wantsOfInline(index, pod, wanted.length),
    ],
  };
}

/** Inline volumes with a malformed size, if the profile checks sizes of inline volumes. */
function malformedVolumes(index: ClusterIndex, pod: PodRecord): PodRefusal[] {
  if (!index.profile.checkInlineVolumes) return [];
  return pod.problems.map((problem) => refusal('MalformedPod', { pod, problem }));
}

/**
 * Claims that are lost, being deleted or owned by another pod, checked in kube-scheduler's order. Missing claims come first, because in
 * kube-scheduler an earlier plugin refuses them.
 */
function absentClaims(index: ClusterIndex, pod: PodRecord): PodRefusal[] {
  const absent = pod.claims.flatMap((podClaim) => {
    const claim = index.claims.get(podClaim.key);
    const reason = absence(claim, podClaim, pod);
    return reason === undefined ? [] : [refusal(reason, { pod, podClaim, claim })];
  });
  const isMissing = ({ reason }: PodRefusal) => reason === 'ClaimNotFound';
  return [...absent.filter(isMissing), ...absent.filter((one) => !isMissing(one))];
}

function absence(claim: ClaimRecord | undefined, podClaim: PodClaim, pod: PodRecord): PodReason | undefined {
  if (claim === undefined) return podClaim.isEphemeral ? 'EphemeralClaimNotCreated' : 'ClaimNotFound';
  if (claim.isLost) return 'ClaimLost';
  if (claim.isDeleting) return 'ClaimDeleting';
  if (claim.isRollingBack) return 'ClaimRollingBack';
  const isOwned = claim.controllerUid !== '' && claim.controllerUid === pod.uid;
  if (podClaim.isEphemeral && !isOwned) return 'ClaimOfAnotherPod';
  return undefined;
}

/** The scheduler binds only unbound claims of a class with volumeBindingMode WaitForFirstConsumer. */
function unreadyClaim(index: ClusterIndex, pod: PodRecord, claim: ClaimRecord): PodRefusal[] {
  if (claim.isBound) return [];
  const podClaim = { key: claim.key, name: claim.name, isEphemeral: false };
  const storageClass = index.classes.get(claim.className);
  if (storageClass?.hasBindingMode === false && claim.volumeName === '') {
    return [refusal('ClassWithoutBindingMode', { pod, podClaim, claim })];
  }
  if (claim.volumeName !== '' || storageClass?.isDelayed !== true || !index.bindsVolumes) {
    return [refusal('UnboundImmediateClaim', { pod, podClaim, claim })];
  }
  const classProblem = invalidDriveClass(index, claim);
  if (classProblem !== undefined)
    return [refusal('InvalidClass', { pod, podClaim, claim, problem: classProblem })];
  if (!claim.isUsable)
    return [refusal('MalformedClaim', { pod, podClaim, claim, problem: claim.problems[0]! })];
  if (index.profile.honoursVolumePolicies && claim.policyProblem !== undefined)
    return [refusal('MalformedClaim', { pod, podClaim, claim, problem: claim.policyProblem })];
  return [];
}

/**
 * Returns the error in the class of a claim on drives: no provisioner can create its volume. A claim that may get an existing volume is left
 * to the nodes.
 */
function invalidDriveClass(
  { profile, classes, volumes }: ClusterIndex,
  claim: ClaimRecord,
): string | undefined {
  const problem = classes.get(claim.className)?.driveClassProblem;
  if (problem === undefined || !profile.poolForms.includes('Drive')) return undefined;
  const isReserved = volumes.heldFor(claim.key) !== undefined || volumes.claimedFor(claim.key).length > 0;
  return isReserved || volumes.groupsFor(claim).length > 0 ? undefined : problem;
}

interface RefusalDetails {
  readonly pod: PodRecord;
  readonly podClaim?: PodClaim;
  readonly claim?: ClaimRecord | undefined;
  readonly problem?: string;
}

function refusal(reason: PodReason, { pod, podClaim, claim, problem }: RefusalDetails): PodRefusal {
  const message = podMessage(reason, {
    claim: podClaim?.name ?? '',
    key: podClaim?.key ?? '',
    pod: pod.key,
    volume: claim?.volumeName ?? '',
    class: claim?.className ?? '',
    problem: problem ?? '',
  });
  return { reason, claim: podClaim?.key, message };
}
