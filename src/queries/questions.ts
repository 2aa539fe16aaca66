import type { WhatIfChange, WorkloadReference } from '../engine/what-if/change.ts';
import { parseQuantity, quantityToNano } from '../kube/quantities/quantity.ts';
import { realClock } from '../runtime/clock.ts';
import { measureCapacity } from './capacity/measure-capacity.ts';
import type { CapacityReport } from './capacity/report.ts';
import { explainTarget, missingNotesOf } from './explain/explain-target.ts';
import type { ClaimExplanation, Explanation, PodExplanation } from './explain/explanation.ts';
import { explainPendingPods } from './explain/pending/explain-many.ts';
import type { PendingPodsExplanation } from './explain/pending/pending-explanation.ts';
import type { PodSchedulerOptions } from './explain/pod-scheduler.ts';
import type { HeadroomReport } from './headroom/headroom-report.ts';
import { measureRoom } from './headroom/measure.ts';
import { makePlan } from './plan/make-plan.ts';
import type { PlanReport } from './plan/plan-report.ts';
import { QuestionError } from './question-error.ts';
import { findReservations } from './reservations/find-reservations.ts';
import type { ReservationsReport } from './reservations/report.ts';
import type { ClusterView, Target } from './view/cluster-view.ts';

/** The default of `nowMs` is the present. `profile` overrides the rules that the objects show. */
export type QueryOptions = Partial<PodSchedulerOptions>;

export type TargetName = Pick<Target, 'namespace' | 'name'>;

/** Why a pod is pending and what would help, or why it is on its node. Throws a `QuestionError` if the pod does not exist. */
export function explain(snapshot: ClusterView, pod: TargetName, options: QueryOptions = {}): PodExplanation {
  // Safe: the explanation of a pod is a PodExplanation.
  return explained(snapshot, { kind: 'pod', ...pod }, options) as PodExplanation;
}

/** Why a claim has no volume. Throws a `QuestionError` if the claim does not exist. */
export function explainNamedClaim(
  snapshot: ClusterView,
  claim: TargetName,
  options: QueryOptions = {},
): ClaimExplanation {
  // Safe: the explanation of a claim is a ClaimExplanation.
  return explained(snapshot, { kind: 'claim', ...claim }, options) as ClaimExplanation;
}

/** All pending pods, of one namespace or of all, with a cause for each group of them. */
export function explainAllPending(
  snapshot: ClusterView,
  { namespace, ...options }: QueryOptions & { readonly namespace?: string } = {},
): PendingPodsExplanation {
  return explainPendingPods(snapshot, namespace, { ...withTime(options), where });
}

/** Predicts the effect of the changes on pods and volumes. Throws a `QuestionError` if a change names an object that does not exist. */
export function planOf(
  snapshot: ClusterView,
  changes: readonly WhatIfChange[],
  options: QueryOptions = {},
): PlanReport {
  return makePlan(snapshot, changes, withTime(options));
}

export interface HeadroomQuestion extends QueryOptions {
  /** The size of one volume; 10Gi if left out. */
  readonly size?: string;
  /** Counts volumes of this class; of each class if left out. */
  readonly storageClass?: string;
  /** Counts replicas of this workload instead. */
  readonly like?: WorkloadReference;
  /** Counting ends here; 1,000 if left out. */
  readonly countMax?: number;
}

/** How much more fits, and what runs out first. Throws a `QuestionError` if the class or the workload does not exist. */
export function headroom(
  snapshot: ClusterView,
  { size = '10Gi', ...question }: HeadroomQuestion = {},
): HeadroomReport {
  const parsed = parseQuantity(size);
  const bytes = parsed.ok ? Math.ceil(Number(quantityToNano(parsed.quantity)) / 1e9) : 0;
  if (bytes <= 0) throw new QuestionError(`size: "${size}" must be a size such as 10Gi`);
  return measureRoom(snapshot, { ...question, ...withTime(question), size: { text: size, bytes } });
}

/** Which pods hold which volumes and bytes. */
export function reservations(snapshot: ClusterView, options: QueryOptions = {}): ReservationsReport {
  return findReservations(snapshot, withTime(options));
}

/** Storage capacity by class and pool, and how much of it is promised. */
export function capacity(
  snapshot: ClusterView,
  { storageClass, ...options }: QueryOptions & { readonly storageClass?: string } = {},
): CapacityReport {
  return measureCapacity(snapshot, { ...withTime(options), storageClass });
}

/** How errors name the cluster. */
const where = 'the snapshot';

function explained(snapshot: ClusterView, target: Target, options: QueryOptions): Explanation {
  const notes = snapshot.isFromFiles ? missingNotesOf(snapshot, target) : snapshot.notes;
  return explainTarget({ ...snapshot, notes }, target, { ...withTime(options), where });
}

function withTime({ nowMs = realClock.nowMs(), profile }: QueryOptions): PodSchedulerOptions {
  return { nowMs, profile };
}
