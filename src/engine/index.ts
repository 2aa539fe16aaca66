/**
 * The engine as a library: decide where a pod and its volumes go, reserve what was decided, and explain why nothing fits.
 *
 * ```ts
 * const index = new ClusterIndex();
 * index.upsert('Node', node);
 * index.upsert('PersistentVolume', volume);
 * const answer = plan(pod, index, { nowMs: Date.now() });
 * if (answer.kind === 'placement') new Ledger(index).reserve(answer);
 * else console.log(answer.message);
 * ```
 */
export {
  Assessment,
  type AssessOptions,
  assess,
  type NodeAssessment,
  type NodeRefusal,
} from './assess.ts';
export type {
  ClusterChange,
  IndexedKind,
  IndexUpdate,
  ObjectWarning,
  RecordOf,
  ReleaseChange,
} from './cluster-index/cluster-change.ts';
export { ClusterIndex } from './cluster-index/cluster-index.ts';
export type { Savepoint } from './cluster-index/primitives/undo-log.ts';
export {
  type InFlightPolicy,
  type Profile,
  packShape,
  spreadShape,
  stowageProfile,
  type UtilizationShape,
  type UtilizationShapePoint,
  upstreamProfile,
  type VolumeScoring,
} from './cluster-index/profile.ts';
export type { ObjectOf } from './cluster-index/read-object.ts';
export type { NodeExplanation, RefusalExplanation } from './evaluation/explain-nodes.ts';
export type { ReservationConflict } from './ledger/conflicts.ts';
export { type ConfirmResult, Ledger, type Reservation, type ReserveResult } from './ledger/ledger.ts';
export { type Placement, type PlanOptions, plan } from './plan.ts';
export { type PodRecord, readPod } from './records/pod-record.ts';
export type { Refusal } from './refusal/refusal.ts';
export { defaultRules } from './rules/default-rules.ts';
export type {
  ClaimBinding,
  InlineReservation,
  PoolChoice,
  Provision,
} from './rules/framework/decisions.ts';
export {
  type ByteMargin,
  type Finding,
  type Margin,
  type Obstacle,
  type ObstacleCode,
  obstacles,
  type SlotMargin,
  type StorageCandidate,
} from './rules/framework/finding.ts';
export {
  type AnyRule,
  eraseState,
  type Interest,
  type PodRefusal,
  type Rule,
} from './rules/framework/rule.ts';
export { type NodeReason, nodeReasons, type PodReason, podReasons, type Reason } from './rules/reasons.ts';
export { volumeRules } from './rules/volume-rules.ts';
export { compareSizes, type Size } from './size.ts';
export { interestOf } from './waking/interest.ts';
