import {
  familyOf,
  isRolling,
  newReplicaSet,
  type ReplicaSetFamily,
  specReplicasOf,
} from '../../../engine/workloads/replica-set-family.ts';
import {
  annotationsToAdd,
  revisionAnnotation,
  revisionNumberOf,
  sizeAnnotations,
} from '../../../engine/workloads/revision-annotations.ts';
import {
  currentReplicas,
  isScaled,
  type Resize,
  recreateSteps,
  rollingSteps,
  scalingSteps,
} from '../../../engine/workloads/rollout.ts';
import type { Deployment, DeploymentCondition, ReplicaSet } from '../../../kube/api/apps.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import { claimDependents, type DependentClaims, isSelectedBy, selectorOf } from '../pods/adoption.ts';
import {
  type CountedDeployment,
  countDeployment,
  hasDeadline,
  isComplete,
  isDeploymentStatusCurrent,
  progressCondition,
  progressConditionOf,
  untilDeadlineMs,
  withProgress,
} from './deployment-status.ts';

const endless = 2 ** 31 - 1;

export interface DeploymentPlanInput {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
  /** Whether pods of these sets still exist, even terminating ones. */
  readonly hasPods: (set: ReplicaSet) => boolean;
  readonly nowMs: number;
}

/** The next step of a Deployment; each kind is executed and planned again, until it is a rollout. */
export type DeploymentPlan =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'claim'; readonly sets: DependentClaims<ReplicaSet> }
  /** The current set lacks annotations, or has another minReadySeconds. */
  | {
      readonly kind: 'annotate';
      readonly set: ReplicaSet;
      readonly annotations: StringMap;
      readonly minReadySeconds: number;
    }
  /** The deployment lacks its revision annotation, or its progress condition. */
  | {
      readonly kind: 'annotate-deployment';
      readonly annotations: StringMap;
      readonly progress: DeploymentCondition | undefined;
    }
  | { readonly kind: 'create'; readonly set: ReplicaSet }
  | RolloutStage;

export interface RolloutStage {
  readonly kind: 'rollout';
  readonly resizes: readonly Resize[];
  readonly expired: readonly ReplicaSet[];
  readonly status: CountedDeployment;
  readonly isStatusCurrent: boolean;
  readonly untilDeadlineMs: number | undefined;
}

export function planDeployment(input: DeploymentPlanInput): DeploymentPlan {
  const { deployment, nowMs } = input;
  const selector = selectorOf(deployment.spec?.selector);
  if (selector === undefined || selector.requirements.length === 0) return { kind: 'ignored' };
  const sets = claimDependents(deployment, input.replicaSets, (set) => isSelectedBy(selector, set));
  if (sets.adopt.length + sets.release.length > 0) return { kind: 'claim', sets };
  const family = familyOf(deployment, sets.mine);
  const counted = countDeployment(deployment, family, nowMs);
  if (deployment.metadata?.deletionTimestamp !== undefined)
    return stage(deployment, { resizes: [], expired: [], status: counted }, nowMs);
  return (
    annotation(deployment, family) ??
    deploymentAnnotation(deployment, family) ??
    rollout(input, family, counted)
  );
}

export function isDeploymentSettled(plan: DeploymentPlan): boolean {
  if (plan.kind !== 'rollout') return plan.kind === 'ignored';
  return plan.resizes.length + plan.expired.length === 0 && plan.isStatusCurrent;
}

function annotation(deployment: Deployment, family: ReplicaSetFamily): DeploymentPlan | undefined {
  const { current } = family;
  if (current === undefined) return undefined;
  const annotations = annotationsToAdd(deployment, current, family);
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const hasMinReadySeconds = (current.spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (hasMinReadySeconds && Object.keys(annotations).length === 0) return undefined;
  return { kind: 'annotate', set: current, annotations, minReadySeconds };
}

function deploymentAnnotation(
  deployment: Deployment,
  { current }: ReplicaSetFamily,
): DeploymentPlan | undefined {
  const revision = current?.metadata?.annotations?.[revisionAnnotation];
  const isNumbered =
    revision === undefined || deployment.metadata?.annotations?.[revisionAnnotation] === revision;
  const next = hasDeadline(deployment) ? progressToMark(deployment, current) : undefined;
  if (isNumbered && next === undefined) return undefined;
  const annotations: StringMap = isNumbered ? {} : { [revisionAnnotation]: revision };
  return { kind: 'annotate-deployment', annotations, progress: next };
}

/** Pausing stops the progress deadline, resuming starts it again. */
function progressToMark(
  deployment: Deployment,
  current: ReplicaSet | undefined,
): DeploymentCondition | undefined {
  const before = progressConditionOf(deployment);
  const isPaused = deployment.spec?.paused === true;
  const isMarkedPaused = before?.reason === 'DeploymentPaused';
  if (before?.reason !== 'ProgressDeadlineExceeded' && isPaused !== isMarkedPaused)
    return isPaused
      ? { ...progressCondition('DeploymentPaused', 'Deployment is paused'), status: 'Unknown' }
      : { ...progressCondition('DeploymentResumed', 'Deployment is resumed'), status: 'Unknown' };
  if (before !== undefined || current === undefined) return undefined;
  return progressCondition('FoundNewReplicaSet', `Found new replica set "${current.metadata?.name}"`);
}

function rollout(
  input: DeploymentPlanInput,
  family: ReplicaSetFamily,
  counted: CountedDeployment,
): DeploymentPlan {
  const { deployment, nowMs } = input;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused || isScaled(deployment, family)) {
    const resizes = scalingSteps(deployment, family).filter((resize) => isChange(deployment, resize));
    const expired = isPaused ? expiredSets(deployment, family) : [];
    return stage(deployment, { resizes, expired, status: counted }, nowMs);
  }
  const isOldGone = !family.old.some((set) => (set.status?.replicas ?? 0) > 0 || input.hasPods(set));
  const rolling = isRolling(deployment);
  const mayCreate = rolling || (isOldGone && family.old.every((set) => specReplicasOf(set) === 0));
  if (family.current === undefined && mayCreate) return creation(deployment, family);
  const resizes = rolling ? rollingSteps(deployment, family) : recreateSteps(deployment, family, isOldGone);
  const isOver = resizes.length === 0 && isComplete(deployment, deployment.status ?? {});
  const expired = isOver ? expiredSets(deployment, family) : [];
  return stage(
    deployment,
    { resizes, expired, status: withProgress(deployment, family, counted, nowMs) },
    nowMs,
  );
}

function creation(deployment: Deployment, family: ReplicaSetFamily): DeploymentPlan {
  const bare = newReplicaSet(deployment);
  const replicas = currentReplicas(deployment, [...family.old, bare], bare);
  const annotations = { ...annotationsToAdd(deployment, bare, family), ...sizeAnnotations(deployment) };
  const set = { metadata: { ...bare.metadata, annotations }, spec: { ...bare.spec, replicas } };
  return { kind: 'create', set };
}

function stage(
  deployment: Deployment,
  { resizes, expired, status }: Pick<RolloutStage, 'resizes' | 'expired' | 'status'>,
  nowMs: number,
): RolloutStage {
  return {
    kind: 'rollout',
    resizes,
    expired,
    status,
    isStatusCurrent: isDeploymentStatusCurrent(deployment, status),
    untilDeadlineMs:
      deployment.spec?.paused === true ? undefined : untilDeadlineMs(deployment, status, nowMs),
  };
}

/** A set of the right size with outdated size annotations has to be updated as well: otherwise it looks scaled forever. */
function isChange(deployment: Deployment, { set, replicas }: Resize): boolean {
  const sizes = Object.entries(sizeAnnotations(deployment));
  return (
    specReplicasOf(set) !== replicas ||
    sizes.some(([key, value]) => set.metadata?.annotations?.[key] !== value)
  );
}

/** Old sets without pods, beyond the limit; the lowest revisions go first. */
function expiredSets({ spec }: Deployment, { old }: ReplicaSetFamily): readonly ReplicaSet[] {
  const limit = spec?.revisionHistoryLimit ?? endless;
  if (limit === endless) return [];
  const existing = old.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  return existing
    .toSorted((a, b) => Number(revisionNumberOf(a) - revisionNumberOf(b)))
    .slice(0, Math.max(0, existing.length - limit))
    .filter(
      (set) =>
        specReplicasOf(set) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        (set.metadata?.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
