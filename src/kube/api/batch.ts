// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { ConditionStatus, ObjectReference, PodTemplateSpec } from './core.ts';
import type { Int64, KubeObject, LabelSelector, ObjectMeta, Timestamp } from './meta.ts';

export type CompletionMode = 'NonIndexed' | 'Indexed';

export type ConcurrencyPolicy = 'Allow' | 'Forbid' | 'Replace';

export type PodFailurePolicyAction = 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';

export type PodFailurePolicyOnExitCodesOperator = 'In' | 'NotIn';

export type PodReplacementPolicy = 'TerminatingOrFailed' | 'Failed';

export interface CronJob extends KubeObject {
  readonly spec?: CronJobSpec;
  readonly status?: CronJobStatus;
}

export interface CronJobSpec {
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: Int64;
  readonly concurrencyPolicy?: ConcurrencyPolicy;
  readonly suspend?: boolean;
  readonly jobTemplate?: JobTemplateSpec;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: Timestamp;
  readonly lastSuccessfulTime?: Timestamp;
}

export interface Job extends KubeObject {
  readonly spec?: JobSpec;
  readonly status?: JobStatus;
}

export interface JobCondition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly lastProbeTime?: Timestamp | null;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: Int64;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template?: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: CompletionMode;
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: PodReplacementPolicy;
  readonly managedBy?: string;
}

export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: Timestamp;
  readonly completionTime?: Timestamp;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
  readonly ready?: number;
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: JobSpec;
}

export interface PodFailurePolicy {
  readonly rules?: readonly PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator?: PodFailurePolicyOnExitCodesOperator;
  readonly values?: readonly number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly type?: string;
  readonly status?: ConditionStatus;
}

export interface PodFailurePolicyRule {
  readonly action?: PodFailurePolicyAction;
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}

export interface SuccessPolicy {
  readonly rules?: readonly SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

export interface UncountedTerminatedPods {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
}
