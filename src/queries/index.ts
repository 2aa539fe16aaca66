/**
 * Queries as a library: ask about a cluster, and get plain reports.
 *
 * ```ts
 * const snapshot = snapshotOf(objects);
 * explain(snapshot, { namespace: 'shop', name: 'db-0' }).summary;
 * plan(snapshot, [{ kind: 'drain-node', node: 'node-1' }]).summary;
 * headroom(snapshot, { storageClass: 'local' }).rows;
 * ```
 */
export type { WhatIfChange, WorkloadReference } from '../engine/what-if/change.ts';
export type { KubeObject } from '../kube/api/meta.ts';
export type { CapacityReport } from './capacity/report.ts';
export type { ClaimExplanation, PodExplanation, PodVerdict } from './explain/explanation.ts';
export type { PendingPodsExplanation } from './explain/pending/pending-explanation.ts';
export type { HeadroomReport, HeadroomRow } from './headroom/headroom-report.ts';
export type { PlanReport } from './plan/plan-report.ts';
export { QuestionError } from './question-error.ts';
export {
  capacity,
  explain,
  explainAllPending as explainPending,
  explainNamedClaim as explainClaim,
  type HeadroomQuestion,
  headroom,
  planOf as plan,
  type QueryOptions,
  reservations,
  type TargetName,
} from './questions.ts';
export type { ReservationsReport } from './reservations/report.ts';
export { type SnapshotOptions, snapshotOfObjects as snapshotOf } from './snapshot-of.ts';
export type { ClusterView } from './view/cluster-view.ts';
