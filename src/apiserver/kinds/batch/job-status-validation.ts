import type { Job, UncountedTerminatedPods } from '../../../kube/api/stored/batch.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { type FieldErrors, omitValue } from '../../validation/field-errors.ts';
import { immutableMessage } from '../../validation/immutable.ts';
import { checkCounts } from '../core/workloads/status-checks.ts';
import { hasCondition, hasTrueCondition, isJobFinished } from './job-conditions.ts';
import { findOverlap, readIndexes } from './job-indexes.ts';

/**
 * Other controllers than Kubernetes' own may manage jobs, so their status is validated strictly. Most rules apply only
 * if the fields that they check change: an existing violation does not block other writes.
 */
export function checkJobStatus(job: Job, old: Job, errors: FieldErrors): void {
  const changes = changesOf(job, old);
  checkCounts(errors, job.status, ['active', 'succeeded', 'failed', 'ready', 'terminating']);
  checkUncounted(job.status.uncountedTerminatedPods, errors);
  checkCompletion(job, changes, errors);
  checkFinish(job, changes, errors);
  checkIndexes(job, changes, errors);
  checkRunning(job, changes, errors);
  checkSuccess(job, errors);
  checkTransition(job, old, changes, errors);
}

/** Which parts of the status this write changes. */
interface Changes {
  readonly finished: boolean;
  readonly complete: boolean;
  readonly failed: boolean;
  readonly failureTarget: boolean;
  readonly successCriteria: boolean;
  readonly completedIndexes: boolean;
  readonly failedIndexes: boolean;
  readonly active: boolean;
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly startTime: boolean;
  readonly completionTime: boolean;
  readonly uncounted: boolean;
}

function changesOf({ status }: Job, { status: old }: Job): Changes {
  const moves = (type: string) => hasTrueCondition(status, type) !== hasTrueCondition(old, type);
  return {
    finished: isJobFinished(status) !== isJobFinished(old),
    complete: moves('Complete'),
    failed: moves('Failed'),
    failureTarget: moves('FailureTarget'),
    successCriteria: moves('SuccessCriteriaMet'),
    completedIndexes: (status.completedIndexes ?? '') !== (old.completedIndexes ?? ''),
    failedIndexes: status.failedIndexes !== old.failedIndexes,
    active: (status.active ?? 0) !== (old.active ?? 0),
    ready: status.ready !== old.ready,
    terminating: status.terminating !== old.terminating,
    startTime: status.startTime !== old.startTime,
    completionTime: status.completionTime !== old.completionTime,
    uncounted: !isSemanticallyEqual(status.uncountedTerminatedPods, old.uncountedTerminatedPods),
  };
}

function checkUncounted(pods: UncountedTerminatedPods | undefined, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const name of ['succeeded', 'failed'] as const) {
    pods?.[name]?.forEach((uid, index) => {
      const field = `status.uncountedTerminatedPods.${name}[${index}]`;
      if (uid === '') errors.invalid(field, uid, 'must not be empty');
      else if (seen.has(uid)) errors.duplicate(field, uid);
      seen.add(uid);
    });
  }
}

function refuse(errors: FieldErrors, detail: string): void {
  errors.invalid('status.conditions', omitValue, detail);
}

function checkCompletion({ status }: Job, changes: Changes, errors: FieldErrors): void {
  const { completionTime, startTime } = status;
  const isComplete = hasTrueCondition(status, 'Complete');
  if ((changes.complete || changes.failed) && isComplete && hasTrueCondition(status, 'Failed')) {
    refuse(errors, 'cannot set Complete=True and Failed=true conditions');
  }
  if (
    (changes.complete || changes.failureTarget) &&
    isComplete &&
    hasTrueCondition(status, 'FailureTarget')
  ) {
    refuse(errors, 'cannot set Complete=True and FailureTarget=true conditions');
  }
  const field = 'status.completionTime';
  if (changes.complete || changes.completionTime) {
    if (completionTime !== undefined && !isComplete) {
      const detail = 'cannot set completionTime when there is no Complete=True condition';
      errors.invalid(field, completionTime, detail);
    }
    if (completionTime === undefined && isComplete) {
      errors.required(field, 'completionTime is required for Complete jobs');
    }
  }
  if ((changes.startTime || changes.completionTime) && isBefore(completionTime, startTime)) {
    errors.invalid(field, completionTime, 'must be equal to or after `startTime`');
  }
}

function isBefore(a: string | undefined, b: string | undefined): boolean {
  const [aMs, bMs] = [parseTimestamp(a), parseTimestamp(b)];
  return aMs !== undefined && bMs !== undefined && aMs < bMs;
}

function checkFinish({ spec, status }: Job, changes: Changes, errors: FieldErrors): void {
  const isTrue = (type: string) => hasTrueCondition(status, type);
  if ((changes.failed || changes.failedIndexes) && isTrue('Failed') && !isTrue('FailureTarget')) {
    refuse(errors, 'cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if ((changes.complete || changes.successCriteria) && isTrue('Complete') && !isTrue('SuccessCriteriaMet')) {
    refuse(errors, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if (!isJobFinished(status)) return;
  if ((changes.finished || changes.active) && (status.active ?? 0) > 0) {
    errors.invalid('status.active', status.active, 'active>0 is invalid for finished job');
  }
  const neverRan = spec.suspend === true && spec.completions === 0;
  if ((changes.finished || changes.startTime) && !neverRan && status.startTime === undefined) {
    errors.required('status.startTime', 'startTime is required for finished job');
  }
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {};
  if ((changes.finished || changes.uncounted) && failed.length + succeeded.length > 0) {
    const shown = {
      Succeeded: status.uncountedTerminatedPods?.succeeded ?? null,
      Failed: status.uncountedTerminatedPods?.failed ?? null,
    };
    errors.invalid('status.uncountedTerminatedPods', shown, 'must be empty for finished job');
  }
}

function checkIndexes({ spec, status }: Job, changes: Changes, errors: FieldErrors): void {
  const { completedIndexes = '', failedIndexes } = status;
  const { completions, backoffLimitPerIndex } = spec;
  if (changes.completedIndexes && completions !== undefined) {
    checkIndexSyntax('completedIndexes', completedIndexes, completions, errors);
  }
  if (changes.failedIndexes && completions !== undefined && backoffLimitPerIndex !== undefined) {
    checkIndexSyntax('failedIndexes', failedIndexes ?? '', completions, errors);
  }
  if (changes.completedIndexes && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.invalid('status.completedIndexes', completedIndexes, detail);
  }
  if (failedIndexes === undefined) return;
  if (changes.failedIndexes && backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.invalid('status.failedIndexes', failedIndexes, detail);
  }
  if (!changes.failedIndexes && !changes.completedIndexes) return;
  const overlap = findOverlap(completedIndexes, failedIndexes, completions ?? 0);
  if (overlap !== undefined) {
    const detail = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
    errors.invalid('status.failedIndexes', failedIndexes, detail);
  }
}

function checkIndexSyntax(name: string, indexes: string, completions: number, errors: FieldErrors): void {
  const result = readIndexes(indexes, completions);
  if (!result.ok) errors.invalid(`status.${name}`, indexes, `error parsing ${name}: ${result.problem}`);
}

function checkRunning({ status }: Job, changes: Changes, errors: FieldErrors): void {
  const { active = 0, ready = 0, terminating = 0 } = status;
  if ((changes.finished || changes.terminating) && terminating > 0 && isJobFinished(status)) {
    errors.invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job');
  }
  if ((changes.ready || changes.active) && status.ready !== undefined && ready > active) {
    errors.invalid('status.ready', ready, 'cannot set more ready pods than active');
  }
}

function checkSuccess({ spec, status }: Job, errors: FieldErrors): void {
  const isMet = hasTrueCondition(status, 'SuccessCriteriaMet');
  if (isMet && hasTrueCondition(status, 'Failed')) {
    refuse(errors, 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  }
  if (isMet && hasTrueCondition(status, 'FailureTarget')) {
    refuse(errors, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  }
  if (spec.successPolicy && !isMet && hasTrueCondition(status, 'Complete')) {
    refuse(errors, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

/** Rejects updates that revert a final part of the status. */
function checkTransition(job: Job, { status: old }: Job, changes: Changes, errors: FieldErrors): void {
  const { spec, status } = job;
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (hasTrueCondition(old, type) && !hasTrueCondition(status, type)) {
      refuse(errors, `cannot disable the terminal ${type}=True condition`);
    }
  }
  checkCounters(job, old, errors);
  const { startTime, completionTime } = status;
  if (completionTime !== undefined && old.completionTime !== undefined && changes.completionTime) {
    errors.invalid('status.completionTime', completionTime, immutableMessage);
  }
  const isResuming = hasTrueCondition(old, 'Suspended') && hasCondition(status, 'Suspended', 'False');
  if (changes.startTime && !isResuming && old.startTime !== undefined && spec.suspend !== true) {
    errors.invalid('status.startTime', startTime, 'field is immutable for unsuspended job once set');
  }
  const [wasMet, isMet] = [old, status].map((one) => hasTrueCondition(one, 'SuccessCriteriaMet'));
  if (wasMet && !isMet) refuse(errors, 'cannot disable the SuccessCriteriaMet=True condition');
  if (hasTrueCondition(old, 'Complete') && !wasMet && isMet) {
    refuse(errors, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}

/** The count of successes may decrease only for an indexed job that is scaled down. */
function checkCounters({ spec, status }: Job, old: Job['status'], errors: FieldErrors): void {
  const canShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if ((status.failed ?? 0) < (old.failed ?? 0)) {
    errors.invalid('status.failed', status.failed ?? 0, 'cannot decrease the failed counter');
  }
  if (!canShrink && (status.succeeded ?? 0) < (old.succeeded ?? 0)) {
    errors.invalid('status.succeeded', status.succeeded ?? 0, 'cannot decrease the succeeded counter');
  }
}
