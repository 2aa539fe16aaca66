import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';
import { isFinished } from '../../kube/pods.ts';
import { isAvailable, isReady, isTerminating } from './pod-state.ts';
import { claimsFor, isLeftOver, ownersToSet } from './stateful-set-claims.ts';
import {
  endOrdinalOf,
  hasIdentity,
  isInRange,
  memberPod,
  ordinalOf,
  podNameOf,
  podRevisionOf,
  type SetRevision,
  startOrdinalOf,
} from './stateful-set-members.ts';

/** Pods that one plan creates, and pods that it deletes; the changed pods lead to the next plan. */
const burstMax = 500;

/** The set and its objects, at one moment. */
export interface SetView {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** Keyed by name; other claims may be among them. */
  readonly claims: Pick<ReadonlyMap<string, PersistentVolumeClaim>, 'get' | 'has'>;
  readonly current: SetRevision;
  readonly update: SetRevision;
  readonly nowMs: number;
}

export type ReplicaStep =
  | { readonly kind: 'create-claim'; readonly claim: PersistentVolumeClaim; readonly podName: string }
  | { readonly kind: 'create-pod'; readonly pod: Pod }
  | { readonly kind: 'delete-pod'; readonly pod: Pod }
  /** The labels of its identity are missing. */
  | { readonly kind: 'identify-pod'; readonly pod: Pod; readonly ordinal: number }
  | {
      readonly kind: 'own-claim';
      readonly claim: PersistentVolumeClaim;
      readonly owners: readonly OwnerReference[];
    }
  /** The pod cannot be created while its claim is being deleted; the deletion of the claim wakes us. */
  | { readonly kind: 'await-claim'; readonly claim: PersistentVolumeClaim; readonly podName: string };

/**
 * The next steps, in this order. One pod at a time, in order of ordinals and each only when all before it are available, unless
 * the set is managed in parallel. Scaling comes before updating; pods are removed from the highest ordinal down.
 *
 * The work depends on the objects that exist, not on `spec.replicas`, which may be as large as 2^31-1.
 */
export function planReplicas(view: SetView): readonly ReplicaStep[] {
  const { set } = view;
  if (set.metadata?.deletionTimestamp !== undefined) return [];
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
  const steps: ReplicaStep[] = [];
  for (const { steps: next, isBlocking } of plannedParts(view, isOrdered)) {
    steps.push(...next);
    if (isBlocking && isOrdered) return steps;
  }
  return [...steps, ...updateSteps(view)];
}

/** The parts of a plan, each computed only when the ones before it do not block it. */
function* plannedParts(view: SetView, isOrdered: boolean): Iterable<PlannedSteps> {
  yield* replicaParts(view, isOrdered);
  const leaving = podsToRemove(view);
  yield* claimParts(view, leaving);
  yield* removalParts(view, leaving, isOrdered);
}

interface PlannedSteps {
  readonly steps: readonly ReplicaStep[];
  /** Later steps have to wait if the order matters. */
  readonly isBlocking: boolean;
}

const pass: PlannedSteps = { steps: [], isBlocking: false };
const block: PlannedSteps = { steps: [], isBlocking: true };

function podsByOrdinal({ pods }: SetView): ReadonlyMap<number | undefined, Pod> {
  return new Map(pods.map((pod) => [ordinalOf(pod), pod]));
}

/** Pods in range, from the lowest ordinal up. */
function podsToKeep({ set, pods }: SetView): readonly Pod[] {
  return pods
    .filter((pod) => isInRange(set, ordinalOf(pod) ?? -1))
    .toSorted((a, b) => (ordinalOf(a) ?? 0) - (ordinalOf(b) ?? 0));
}

/** Pods beyond the range that this plan removes or waits for, from the highest ordinal down. */
function podsToRemove({ set, pods }: SetView): readonly Pod[] {
  let deletions = 0;
  return pods
    .filter((pod) => !isInRange(set, ordinalOf(pod) ?? -1))
    .toSorted((a, b) => (ordinalOf(b) ?? 0) - (ordinalOf(a) ?? 0))
    .filter((pod) => isTerminating(pod) || deletions++ < burstMax);
}

/** Ordinals in order; after enough creations only those of existing pods. */
function* replicaParts(view: SetView, isOrdered: boolean): Iterable<PlannedSteps> {
  const { set } = view;
  const existing = podsByOrdinal(view);
  const end = endOrdinalOf(set);
  let created = 0;
  let ordinal = startOrdinalOf(set);
  for (; ordinal < end && created < burstMax; ordinal++) {
    const pod = existing.get(ordinal);
    const steps = pod === undefined ? creationSteps(view, ordinal) : [];
    if (steps.some(({ kind }) => kind === 'create-pod')) created++;
    yield pod === undefined ? { steps, isBlocking: true } : planReplica(view, pod, ordinal, isOrdered);
  }
  for (const pod of podsToKeep(view)) {
    const at = ordinalOf(pod) ?? 0;
    if (at >= ordinal) yield planReplica(view, pod, at, isOrdered);
  }
}

function planReplica(view: SetView, pod: Pod, ordinal: number, isOrdered: boolean): PlannedSteps {
  // Whether it failed or succeeded does not matter: the exit code of a pod that is stopped from outside means nothing.
  if (isFinished(pod))
    return { steps: isTerminating(pod) ? [] : [{ kind: 'delete-pod', pod }], isBlocking: true };
  const isPending = pod.status?.phase === 'Pending';
  const claimSteps = isPending ? pendingClaimSteps(view, pod, ordinal) : [];
  if (isOrdered && (isTerminating(pod) || !isRunning(view, pod)))
    return { steps: claimSteps, isBlocking: true };
  const identify: readonly ReplicaStep[] = hasIdentity(pod) ? [] : [{ kind: 'identify-pod', pod, ordinal }];
  const owned = isPending ? [] : ownershipSteps(view, pod, ordinal);
  return { steps: [...claimSteps, ...identify, ...owned], isBlocking: false };
}

/** Claims first: a pod that exists before its claims could be placed where they cannot be provisioned. */
function creationSteps(view: SetView, ordinal: number): readonly ReplicaStep[] {
  const { set, claims } = view;
  const podName = podNameOf(set, ordinal);
  const wanted = claimsFor(set, ordinal);
  const present = wanted
    .map(({ metadata }) => claims.get(metadata?.name ?? ''))
    .filter((claim) => claim !== undefined);
  if (present.some((claim) => isLeftOver(set, podName, claim))) return [];
  const missing = missingClaims(view, ordinal, podName);
  const ending = present.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  if (ending.length > 0)
    return [...missing, ...ending.map((claim) => ({ kind: 'await-claim', claim, podName }) as const)];
  const pod = memberPod(set, revisionFor(view, ordinal), ordinal);
  return [...missing, ...ownershipSteps(view, pod, ordinal), { kind: 'create-pod', pod }];
}

function pendingClaimSteps(view: SetView, pod: Pod, ordinal: number): readonly ReplicaStep[] {
  return [...missingClaims(view, ordinal, pod.metadata?.name ?? ''), ...ownershipSteps(view, pod, ordinal)];
}

function missingClaims({ set, claims }: SetView, ordinal: number, podName: string): readonly ReplicaStep[] {
  return claimsFor(set, ordinal)
    .filter(({ metadata }) => !claims.has(metadata?.name ?? ''))
    .map((claim) => ({ kind: 'create-claim', claim, podName }));
}

function ownershipSteps({ set, claims }: SetView, pod: Pod, ordinal: number): readonly ReplicaStep[] {
  return claimsFor(set, ordinal).flatMap(({ metadata }) => {
    const claim = claims.get(metadata?.name ?? '');
    const owners = claim === undefined ? undefined : ownersToSet(set, pod, claim);
    return claim === undefined || owners === undefined ? [] : [{ kind: 'own-claim', claim, owners } as const];
  });
}

/** Pods below the partition stay at the current revision of the set; the others get the new one. */
function revisionFor({ set, current, update }: SetView, ordinal: number): SetRevision {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  const position = ordinal - startOrdinalOf(set);
  if (rollingUpdate !== undefined) return position < (rollingUpdate.partition ?? 0) ? current : update;
  const isOld = type === 'RollingUpdate' && position < (set.status?.currentReplicas ?? 0);
  return isOld ? current : update;
}

/** Before a pod is deleted, its claims get the owner that decides whether they are deleted with it. */
function* claimParts(view: SetView, leaving: readonly Pod[]): Iterable<PlannedSteps> {
  for (const pod of leaving)
    yield { steps: ownershipSteps(view, pod, ordinalOf(pod) ?? 0), isBlocking: false };
}

function* removalParts(view: SetView, leaving: readonly Pod[], isOrdered: boolean): Iterable<PlannedSteps> {
  const first = isOrdered ? firstUnavailable(view, leaving) : undefined;
  for (const pod of leaving) {
    if (isTerminating(pod)) yield isOrdered ? block : pass;
    else if (isOrdered && !isRunning(view, pod) && pod !== first) yield block;
    else yield { steps: [{ kind: 'delete-pod', pod }], isBlocking: true };
  }
}

function firstUnavailable(view: SetView, leaving: readonly Pod[]): Pod | undefined {
  return [...podsToKeep(view), ...leaving.toReversed()].find((pod) => isUnavailable(view, pod));
}

/** The highest pod of an old revision is deleted, when all above it are available. */
function updateSteps(view: SetView): readonly ReplicaStep[] {
  const { set, update } = view;
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  const first = startOrdinalOf(set) + (rollingUpdate?.partition ?? 0);
  const existing = podsByOrdinal(view);
  for (let ordinal = endOrdinalOf(set) - 1; ordinal >= first; ordinal--) {
    const pod = existing.get(ordinal);
    if (pod === undefined || isFinished(pod)) return [];
    if (podRevisionOf(pod) !== update.name && !isTerminating(pod)) return [{ kind: 'delete-pod', pod }];
    if (isUnavailable(view, pod)) return [];
  }
  return [];
}

function isRunning({ set, nowMs }: SetView, pod: Pod): boolean {
  const isUp = pod.status?.phase === 'Running' && isReady(pod);
  return isUp && isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);
}

function isUnavailable({ set, nowMs }: SetView, pod: Pod): boolean {
  return isTerminating(pod) || !isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);
}
