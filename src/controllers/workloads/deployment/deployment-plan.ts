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
import {
  familyOf,
  isRolling,
  newReplicaSet,
  type ReplicaSetFamily,
  specReplicasOf,
} from './replica-set-family.ts';
import {
  annotationsToAdd,
  revisionAnnotation,
  revisionNumberOf,
  sizeAnnotations,
} from './revision-annotations.ts';
import {
  currentReplicas,
  isScaled,
  type Resize,
  recreateSteps,
  rollingSteps,
  scalingSteps,
} from './rollout.ts';

const endless = 2 ** 31 - 1;

export interface DeploymentPlanInput {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
  /** Whether pods of these sets are still there, be it on their way out. */
  readonly hasPods: (set: ReplicaSet) => boolean;
  readonly nowMs: number;
}

/** What a deployment needs next; each kind is carried out and looked at again, until it is a rollout. */
export type DeploymentPlan =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'claim'; readonly sets: DependentClaims<ReplicaSet> }
  /** The current set lacks annotations, or waits otherwise for its pods. */
  | {
      readonly kind: 'annotate';
      readonly set: ReplicaSet;
      readonly annotations: StringMap;
      readonly minReadySeconds: number;
    }
  /** The deployment has to say its revision, or how it stands. */
  | {
      readonly kind: 'mark';
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
  readonly isStatusTold: boolean;
  readonly untilDeadlineMs: number | undefined;
}

export function planDeployment(around: DeploymentPlanInput): DeploymentPlan {
  const { deployment, nowMs } = around;
  const selector = selectorOf(deployment.spec?.selector);
  if (selector === undefined || selector.requirements.length === 0) return { kind: 'ignored' };
  const sets = claimDependents(deployment, around.replicaSets, (set) => isSelectedBy(selector, set));
  if (sets.adopt.length + sets.release.length > 0) return { kind: 'claim', sets };
  const family = familyOf(deployment, sets.mine);
  const counted = countDeployment(deployment, family, nowMs);
  if (deployment.metadata?.deletionTimestamp !== undefined)
    return stage(deployment, { resizes: [], expired: [], status: counted }, nowMs);
  return annotation(deployment, family) ?? mark(deployment, family) ?? rollout(around, family, counted);
}

export function isDeploymentSettled(plan: DeploymentPlan): boolean {
  if (plan.kind !== 'rollout') return plan.kind === 'ignored';
  return plan.resizes.length + plan.expired.length === 0 && plan.isStatusTold;
}

function annotation(deployment: Deployment, family: ReplicaSetFamily): DeploymentPlan | undefined {
  const { current } = family;
  if (current === undefined) return undefined;
  const annotations = annotationsToAdd(deployment, current, family);
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const isPatient = (current.spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (isPatient && Object.keys(annotations).length === 0) return undefined;
  return { kind: 'annotate', set: current, annotations, minReadySeconds };
}

function mark(deployment: Deployment, { current }: ReplicaSetFamily): DeploymentPlan | undefined {
  const revision = current?.metadata?.annotations?.[revisionAnnotation];
  const isNumbered =
    revision === undefined || deployment.metadata?.annotations?.[revisionAnnotation] === revision;
  const next = hasDeadline(deployment) ? progressToMark(deployment, current) : undefined;
  if (isNumbered && next === undefined) return undefined;
  const annotations: StringMap = isNumbered ? {} : { [revisionAnnotation]: revision };
  return { kind: 'mark', annotations, progress: next };
}

/** Pausing stops the clock of the deadline, resuming starts it anew. */
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
  around: DeploymentPlanInput,
  family: ReplicaSetFamily,
  counted: CountedDeployment,
): DeploymentPlan {
  const { deployment, nowMs } = around;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused || isScaled(deployment, family)) {
    const resizes = scalingSteps(deployment, family).filter((resize) => isChange(deployment, resize));
    const expired = isPaused ? expiredSets(deployment, family) : [];
    return stage(deployment, { resizes, expired, status: counted }, nowMs);
  }
  const isOldGone = !family.old.some((set) => (set.status?.replicas ?? 0) > 0 || around.hasPods(set));
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
    isStatusTold: isDeploymentStatusCurrent(deployment, status),
    untilDeadlineMs:
      deployment.spec?.paused === true ? undefined : untilDeadlineMs(deployment, status, nowMs),
  };
}

/** A set of the right size that does not know of it has to be told as well: else it looks scaled for ever. */
function isChange(deployment: Deployment, { set, replicas }: Resize): boolean {
  const sizes = Object.entries(sizeAnnotations(deployment));
  return (
    specReplicasOf(set) !== replicas ||
    sizes.some(([key, value]) => set.metadata?.annotations?.[key] !== value)
  );
}

/** Old sets without pods, beyond the number that is to be kept; the lowest revisions go. */
function expiredSets({ spec }: Deployment, { old }: ReplicaSetFamily): readonly ReplicaSet[] {
  const limit = spec?.revisionHistoryLimit ?? endless;
  if (limit === endless) return [];
  const alive = old.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  return alive
    .toSorted((a, b) => revisionNumberOf(a) - revisionNumberOf(b))
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      (set) =>
        specReplicasOf(set) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        (set.metadata?.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
