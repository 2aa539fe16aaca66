import { nextAvailableMs } from '../../../engine/workloads/pod-state.ts';
import { isMember } from '../../../engine/workloads/stateful-set-members.ts';
import { planReplicas, type ReplicaStep } from '../../../engine/workloads/stateful-set-plan.ts';
import type { ControllerRevision, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { claimDependents, type DependentClaims, isSelectedBy, selectorOf } from '../pods/adoption.ts';
import { planRevisions, type RevisionPlan, revisionsToDelete } from './revisions.ts';
import { isSetStatusCurrent, type SetStatus, setStatusOf } from './set-status.ts';

/** The set, and all objects in its namespace that may concern it. */
export interface SetPlanInput {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly revisions: readonly ControllerRevision[];
  /** How often the name of a new revision was taken by another template. */
  readonly collisions: number;
  readonly nowMs: number;
}

/** The stage of a set, of three; each starts when the one before has nothing left to do. */
export type SetPlan =
  | { readonly kind: 'ignored' }
  | {
      readonly kind: 'claim';
      readonly pods: DependentClaims<Pod>;
      readonly revisions: DependentClaims<ControllerRevision>;
    }
  | { readonly kind: 'revise'; readonly plan: Exclude<RevisionPlan, { kind: 'settled' }> }
  | ReplicaStage;

export interface ReplicaStage {
  readonly kind: 'replicas';
  readonly steps: readonly ReplicaStep[];
  readonly status: SetStatus;
  readonly isStatusCurrent: boolean;
  readonly expired: readonly ControllerRevision[];
  /** When a pod becomes available by the passing of time alone. */
  readonly nextAvailableMs: number | undefined;
}

/** The next step of the set: adopt its members, name its revisions, create and delete pods. */
export function planSet(input: SetPlanInput): SetPlan {
  const { set } = input;
  const selector = selectorOf(set.spec?.selector);
  if (selector === undefined || selector.requirements.length === 0) return { kind: 'ignored' };
  const pods = claimDependents(set, input.pods, (pod) => isSelectedBy(selector, pod) && isMember(set, pod));
  const revisions = claimDependents(set, input.revisions, (revision) => isSelectedBy(selector, revision));
  if (pods.adopt.length + pods.release.length + revisions.adopt.length > 0)
    return { kind: 'claim', pods, revisions: { ...revisions, release: [] } };
  const revisionInput = { revisions: input.revisions, collisions: input.collisions };
  const plan = planRevisions(set, revisions.mine, revisionInput);
  // A terminating set gets no revision any more: deleting its dependents first would never end.
  if (plan.kind !== 'settled') return isEnding(set) ? { kind: 'ignored' } : { kind: 'revise', plan };
  return replicaStage(input, pods.mine, revisions.mine, plan);
}

export function isSetSettled(plan: SetPlan): boolean {
  if (plan.kind === 'ignored') return true;
  return (
    plan.kind === 'replicas' && plan.steps.length === 0 && plan.isStatusCurrent && plan.expired.length === 0
  );
}

function isEnding({ metadata }: StatefulSet): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

function replicaStage(
  { set, claims, nowMs, collisions }: SetPlanInput,
  pods: readonly Pod[],
  revisions: readonly ControllerRevision[],
  { current, update }: Extract<RevisionPlan, { kind: 'settled' }>,
): ReplicaStage {
  const view = { set, pods, claims, current, update, nowMs };
  const status = setStatusOf({ ...view, collisions });
  return {
    kind: 'replicas',
    steps: planReplicas(view),
    status,
    isStatusCurrent: isSetStatusCurrent(set, status),
    expired: revisionsToDelete(set, revisions, pods, [current, update]),
    nextAvailableMs: nextAvailableMs(pods, set.spec?.minReadySeconds ?? 0, nowMs),
  };
}
