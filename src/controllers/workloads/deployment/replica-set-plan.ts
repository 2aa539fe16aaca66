import { rankForDeletion } from '../../../engine/workloads/deletion-rank.ts';
import {
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  nextAvailableMs,
} from '../../../engine/workloads/pod-state.ts';
import { nameSuffix } from '../../../engine/workloads/template-hash.ts';
import { podFromTemplate } from '../../../engine/workloads/template-pod.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { Condition } from '../../../kube/api/meta.ts';
import { canonicalJson } from '../../../kube/go/json-text.ts';
import { controllerOf, controllerReference } from '../../../kube/owner-references.ts';
import { isFinished } from '../../../kube/pods.ts';
import { replicaSets } from '../../../kube/resources.ts';
import { claimDependents, type DependentClaims, isSelectedBy, selectorOf } from '../pods/adoption.ts';

/** Pods that are created or deleted at the same time. */
const burstMax = 500;
/** The API server truncates the prefix of a generated name to this. */
const prefixLengthMax = 58;

export interface ReplicaSetPlanInput {
  readonly set: ReplicaSet;
  /** The pods of the namespace, or at least those of the set and those without a controller. */
  readonly pods: readonly Pod[];
  /** The uids of the ReplicaSets of the same Deployment, including this one. */
  readonly family: ReadonlySet<string>;
  readonly nowMs: number;
}

export type ReplicaSetPlan =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'claim'; readonly pods: DependentClaims<Pod> }
  | {
      readonly kind: 'replicas';
      readonly create: readonly Pod[];
      readonly remove: readonly Pod[];
      readonly status: CountedReplicaSetStatus;
      readonly isStatusCurrent: boolean;
      readonly nextAvailableMs: number | undefined;
    };

export type CountedReplicaSetStatus = Required<
  Pick<
    ReplicaSetStatus,
    'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas' | 'observedGeneration'
  >
> & { readonly fullyLabeledReplicas: number };

/** The next step of the ReplicaSet: adopt its members, and reach the desired number of pods. */
export function planReplicaSet(input: ReplicaSetPlanInput): ReplicaSetPlan {
  const { set, pods, nowMs } = input;
  const selector = selectorOf(set.spec?.selector);
  if (selector === undefined) return { kind: 'ignored' };
  const claims = claimDependents(set, pods.filter(isActive), (pod) => isSelectedBy(selector, pod));
  if (claims.adopt.length + claims.release.length > 0) return { kind: 'claim', pods: claims };
  const leaving = pods.filter((pod) => isTerminating(pod) && !isFinished(pod));
  const terminating = claimDependents(set, leaving, (pod) => isSelectedBy(selector, pod)).mine;
  const status = countedStatus(set, claims.mine, terminating.length, nowMs);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  return {
    kind: 'replicas',
    ...changes(input, claims.mine),
    status,
    isStatusCurrent: isCurrent(set, status) && replicaFailureOf(set) === undefined,
    nextAvailableMs: nextAvailableMs(claims.mine, minReadySeconds, nowMs),
  };
}

export function isReplicaSetSettled(plan: ReplicaSetPlan): boolean {
  if (plan.kind !== 'replicas') return plan.kind === 'ignored';
  return plan.create.length + plan.remove.length === 0 && plan.isStatusCurrent;
}

/** The condition with the reason why pods could not be created or deleted. */
export function replicaFailureOf({ status }: ReplicaSet): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
}

/** A merge patch: fields that Go omits from the object when they are zero are removed. */
export function replicaSetStatusPatch(
  status: CountedReplicaSetStatus,
  conditions: readonly Condition[],
): object {
  const { fullyLabeledReplicas, readyReplicas, availableReplicas } = status;
  return {
    ...status,
    fullyLabeledReplicas: fullyLabeledReplicas || null,
    readyReplicas: readyReplicas || null,
    availableReplicas: availableReplicas || null,
    conditions: conditions.length === 0 ? null : conditions,
  };
}

function changes(
  input: ReplicaSetPlanInput,
  active: readonly Pod[],
): { readonly create: readonly Pod[]; readonly remove: readonly Pod[] } {
  const { set, pods, family, nowMs } = input;
  const surplus = active.length - (set.spec?.replicas ?? 1);
  if (set.metadata?.deletionTimestamp !== undefined || surplus === 0) return { create: [], remove: [] };
  if (surplus < 0) return { create: newPods(set, pods, Math.min(-surplus, burstMax)), remove: [] };
  const related = pods.filter((pod) => family.has(controllerOf(pod)?.uid ?? ''));
  const ranked = rankForDeletion(active, related, nowMs);
  return { create: [], remove: ranked.slice(0, Math.min(surplus, burstMax)) };
}

/**
 * The names depend on the version of the set. So concurrent attempts to create the same missing pods use the same names, and the
 * second fails with `AlreadyExists`. But a replacement does not have the name of the pod that it replaces: every attempt that creates
 * pods is followed by a write of the set's status, because the number of pods has changed.
 */
function newPods(set: ReplicaSet, pods: readonly Pod[], count: number): readonly Pod[] {
  const { name: setName = '', namespace = '', uid = '', resourceVersion = '' } = set.metadata ?? {};
  const pod = podFromTemplate(set.spec?.template ?? {}, namespace, controllerReference(set, replicaSets));
  const taken = new Set(pods.map(({ metadata }) => metadata?.name));
  const generateName = `${setName}-`;
  const created: Pod[] = [];
  for (let slot = 0; created.length < count; slot++) {
    const name = generateName.slice(0, prefixLengthMax) + nameSuffix(`${slot} ${uid} ${resourceVersion}`);
    if (taken.has(name)) continue;
    taken.add(name);
    created.push({ ...pod, metadata: { ...pod.metadata, name, generateName } });
  }
  return created;
}

function countedStatus(
  set: ReplicaSet,
  active: readonly Pod[],
  terminatingReplicas: number,
  nowMs: number,
): CountedReplicaSetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const template = selectorOf({ matchLabels: set.spec?.template?.metadata?.labels ?? {} });
  const ready = active.filter(isReady);
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => template !== undefined && isSelectedBy(template, pod))
      .length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
    terminatingReplicas,
    observedGeneration: set.metadata?.generation ?? 0,
  };
}

function isCurrent({ status = {} }: ReplicaSet, wanted: CountedReplicaSetStatus): boolean {
  const current = Object.fromEntries(
    Object.keys(wanted).map((key) => [key, status[key as keyof CountedReplicaSetStatus] ?? 0]),
  );
  return status.terminatingReplicas !== undefined && canonicalJson(current) === canonicalJson(wanted);
}
