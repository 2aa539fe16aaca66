import {
  allOf,
  maxUnavailableOf,
  type ReplicaSetFamily,
  specReplicasOf,
  totalReplicas,
} from '../../../engine/workloads/replica-set-family.ts';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../../kube/api/apps.ts';
import { canonicalJson } from '../../../kube/go/json-text.ts';
import { formatTimestamp, parseTimestamp } from '../../../kube/go/timestamp.ts';

/** The number that Kubernetes uses for "never". */
const endless = 2 ** 31 - 1;

export interface CountedDeployment extends DeploymentStatus {
  readonly conditions: readonly DeploymentCondition[];
}

/** The counts of all sets together, and whether they are enough. */
export function countDeployment(
  deployment: Deployment,
  family: ReplicaSetFamily,
  nowMs: number,
): CountedDeployment {
  const sets = allOf(family);
  const sum = (count: (status: NonNullable<ReplicaSet['status']>) => number | undefined) =>
    sets.reduce((total, { status }) => total + (count(status ?? {}) ?? 0), 0);
  const available = sum(({ availableReplicas }) => availableReplicas);
  const isEnough = available >= specReplicasOf(deployment) - maxUnavailableOf(deployment);
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    replicas: sum(({ replicas }) => replicas),
    updatedReplicas: family.current?.status?.replicas ?? 0,
    readyReplicas: sum(({ readyReplicas }) => readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalReplicas(sets) - available),
    terminatingReplicas: sum(({ terminatingReplicas }) => terminatingReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withDeploymentCondition(conditions, isEnough ? enough : notEnough, nowMs),
  };
}

const enough = {
  type: 'Available',
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
} as const;
const notEnough = {
  type: 'Available',
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
} as const;

/** Adds the progress condition, and the failure of sets to create pods. */
export function withProgress(
  deployment: Deployment,
  { current, old }: ReplicaSetFamily,
  counted: CountedDeployment,
  nowMs: number,
): CountedDeployment {
  const failure = [current, ...old].flatMap((set) => set?.status?.conditions ?? []).find(isFailure);
  const others = progressed(deployment, current, counted, nowMs).filter((condition) => !isFailure(condition));
  const failed: readonly DeploymentCondition[] =
    failure === undefined
      ? []
      : [{ ...failure, ...(failure.lastTransitionTime && { lastUpdateTime: failure.lastTransitionTime }) }];
  return { ...counted, conditions: [...others, ...failed] };
}

function progressed(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  counted: CountedDeployment,
  nowMs: number,
): readonly DeploymentCondition[] {
  const { conditions } = counted;
  if (!hasDeadline(deployment)) return conditions.filter(({ type }) => type !== 'Progressing');
  const before = progressConditionOf(deployment);
  if (counted.replicas === counted.updatedReplicas && before?.reason === 'NewReplicaSetAvailable')
    return conditions;
  const subject =
    current === undefined
      ? `Deployment "${deployment.metadata?.name}"`
      : `ReplicaSet "${current.metadata?.name}"`;
  if (isComplete(deployment, counted))
    return withDeploymentCondition(
      conditions,
      progressCondition('NewReplicaSetAvailable', `${subject} has successfully progressed.`),
      nowMs,
    );
  if (isProgressing(deployment.status ?? {}, counted)) {
    const next = progressCondition('ReplicaSetUpdated', `${subject} is progressing.`);
    return replaceCondition(conditions, next, nowMs);
  }
  if (isTimedOut(deployment, before, nowMs)) {
    const next = {
      ...progressCondition('ProgressDeadlineExceeded', `${subject} has timed out progressing.`),
      status: 'False',
    } as const;
    return withDeploymentCondition(conditions, next, nowMs);
  }
  return conditions;
}

export function progressCondition(reason: string, message: string): DeploymentCondition {
  return { type: 'Progressing', status: 'True', reason, message };
}

export function progressConditionOf({ status }: Deployment): DeploymentCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Progressing');
}

/** All pods are updated and available, and no old ones are left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = specReplicasOf(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    updatedReplicas === wanted &&
    replicas === wanted &&
    availableReplicas === wanted &&
    observedGeneration >= (deployment.metadata?.generation ?? 0)
  );
}

export function hasDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== endless;
}

/** When to check whether the deadline has passed without progress; undefined if no deadline is running. */
export function untilDeadlineMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const before = progressConditionOf(deployment);
  if (!hasDeadline(deployment) || before === undefined || isComplete(deployment, status)) return undefined;
  if (before.reason === 'ProgressDeadlineExceeded' || before.reason === 'NewReplicaSetAvailable')
    return undefined;
  // One second more: times are written in whole seconds.
  return Math.max(0, deadlineMs(deployment, before) - nowMs) + 1000;
}

/** Replaces the condition of its type, unless that is already equal. It moves to the end of the list. */
export function withDeploymentCondition(
  conditions: readonly DeploymentCondition[],
  next: DeploymentCondition,
  nowMs: number,
): readonly DeploymentCondition[] {
  const before = conditions.find(({ type }) => type === next.type);
  if (before?.status === next.status && before?.reason === next.reason) return conditions;
  return replaceCondition(conditions, next, nowMs);
}

function replaceCondition(
  conditions: readonly DeploymentCondition[],
  next: DeploymentCondition,
  nowMs: number,
): readonly DeploymentCondition[] {
  const before = conditions.find(({ type }) => type === next.type);
  const now = formatTimestamp(nowMs);
  const lastTransitionTime = (before?.status === next.status ? before?.lastTransitionTime : undefined) ?? now;
  const others = conditions.filter(({ type }) => type !== next.type);
  return [...others, { ...next, lastUpdateTime: now, lastTransitionTime }];
}

/** A merge patch: fields that Go omits from the object when they are zero are removed. */
export function deploymentStatusPatch({ conditions, ...counts }: CountedDeployment): object {
  const { terminatingReplicas, collisionCount, ...rest } = counts;
  const shown = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, value || null]));
  return {
    ...shown,
    terminatingReplicas,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: conditions.length === 0 ? null : conditions,
  };
}

export function isDeploymentStatusCurrent({ status = {} }: Deployment, wanted: CountedDeployment): boolean {
  const current = Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [
      key,
      status[key as keyof DeploymentStatus] ?? (Array.isArray(value) ? [] : 0),
    ]),
  );
  return status.terminatingReplicas !== undefined && canonicalJson(current) === canonicalJson(wanted);
}

function isProgressing(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: Deployment, before: DeploymentCondition | undefined, nowMs: number): boolean {
  if (before === undefined || before.reason === 'NewReplicaSetAvailable') return false;
  return before.reason === 'ProgressDeadlineExceeded' || deadlineMs(deployment, before) < nowMs;
}

function deadlineMs({ spec }: Deployment, { lastUpdateTime }: DeploymentCondition): number {
  return (parseTimestamp(lastUpdateTime) ?? 0) + (spec?.progressDeadlineSeconds ?? 0) * 1000;
}

function isFailure({ type }: DeploymentCondition): boolean {
  return type === 'ReplicaFailure';
}
