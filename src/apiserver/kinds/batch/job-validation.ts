import type { Job, JobSpec } from '../../../kube/api/stored/batch.ts';
import type { PodTemplateSpec } from '../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { checkSupported } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { dnsLabelProblems, dnsSubdomainProblems, regexProblem } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { checkLabelSelector } from '../../validation/selectors.ts';
import { validatePodTemplate } from '../core/pods/template-rules.ts';
import { compileSelector, noMatchMessage } from '../core/workloads/template-checks.ts';
import { checkFailurePolicy } from './job-failure-policy.ts';
import { checkGeneratedSelector } from './job-selector.ts';
import { checkSuccessPolicy } from './job-success-policy.ts';

/** Rules from which existing jobs are exempt. */
export interface JobLeniency {
  readonly lacksPrefixedLabels?: boolean;
  readonly allowsAnyValue?: boolean;
}

export function checkJob(job: Job, errors: FieldErrors, leniency: JobLeniency = {}): void {
  checkGeneratedSelector(job, errors, leniency.lacksPrefixedLabels !== true);
  checkSelectedJobSpec(job.spec, errors, leniency);
  checkPodNames(job, errors);
}

/** The spec of a job, including its selector. */
export function checkSelectedJobSpec(spec: JobSpec, errors: FieldErrors, leniency: JobLeniency): void {
  checkJobSpec(spec, 'spec', errors);
  if (spec.selector) {
    checkLabelSelector(errors, 'spec.selector', spec.selector, {
      allowsAnyValue: leniency.allowsAnyValue === true,
    });
  } else errors.required('spec.selector');
  const compiled = compileSelector(spec.selector);
  const { labels } = spec.template.metadata;
  if (compiled.ok && !matchesLabels(compiled.selector, labels)) {
    errors.invalid('spec.template.metadata.labels', labels, noMatchMessage);
  }
}

/** All but the selector: also for the job template of a CronJob, which has none yet. */
export function checkJobSpec(spec: JobSpec, field: string, errors: FieldErrors): void {
  checkLimits(spec, field, errors);
  checkManagedBy(errors, `${field}.managedBy`, spec.managedBy);
  checkCompletionMode(spec, field, errors);
  if (spec.podFailurePolicy)
    checkFailurePolicy(spec, spec.podFailurePolicy, `${field}.podFailurePolicy`, errors);
  if (spec.successPolicy) checkSuccessPolicy(spec, spec.successPolicy, `${field}.successPolicy`, errors);
  checkReplacement(spec, `${field}.podReplacementPolicy`, errors);
  validatePodTemplate(spec.template, `${field}.template`, errors);
  checkRestartPolicy(spec.template, spec.podFailurePolicy !== undefined, `${field}.template`, errors);
}

const indexedParallelismMax = 100_000;
const failedIndexesMax = 100_000;
/** Above this number, lists of indexes could become too long for a status. */
const manyCompletions = 100_000;
const limitForMany = 10_000;
const managedByBytesMax = 63;

/** The host names of indexed pods end in the index. */
function checkPodNames({ metadata, spec }: Job, errors: FieldErrors): void {
  if (spec.completionMode !== 'Indexed' || !spec.completions || spec.completions < 0) return;
  const longest = `${metadata.name ?? ''}-${spec.completions - 1}`;
  if (dnsLabelProblems(longest).length > 0) {
    const detail = `will not able to create pod with invalid DNS label: ${longest}`;
    errors.invalid('metadata.name', metadata.name ?? '', detail);
  }
}

function checkLimits(spec: JobSpec, field: string, errors: FieldErrors): void {
  const names = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const;
  for (const name of names) checkNonNegative(errors, `${field}.${name}`, spec[name] ?? 0);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
  }
}

/** A domain-prefixed path such as `example.com/me`. */
function checkManagedBy(errors: FieldErrors, field: string, value: string | undefined): void {
  if (value === undefined) return;
  checkDomainPath(errors, field, value);
  if (utf8Length(value) > managedByBytesMax) errors.tooLong(field, managedByBytesMax);
}

function checkDomainPath(errors: FieldErrors, field: string, value: string): void {
  if (value === '') {
    errors.required(field);
    return;
  }
  const slash = value.indexOf('/');
  const host = value.slice(0, Math.max(slash, 0));
  const path = value.slice(slash + 1);
  if (slash <= 0 || path === '') {
    errors.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  errors.invalidFor(field, host, dnsSubdomainProblems(host));
  if (!new RegExp(`^${pathFormat}$`).test(path)) {
    errors.invalid(field, path, regexProblem('Invalid path', pathFormat));
  }
}

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function checkCompletionMode(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { completionMode: mode } = spec;
  if (mode !== undefined) {
    checkSupported(errors, `${field}.completionMode`, mode, ['NonIndexed', 'Indexed']);
  }
  if (mode === 'Indexed') checkIndexed(spec, field, errors);
  if (mode !== undefined && mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
    if (spec[name] !== undefined) {
      errors.invalid(`${field}.${name}`, spec[name], 'requires indexed completion mode');
    }
  }
}

function checkIndexed(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { completions, parallelism = 0, maxFailedIndexes = 0 } = spec;
  if (completions === undefined) {
    errors.required(`${field}.completions`, 'when completion mode is Indexed');
  }
  if (parallelism > indexedParallelismMax) {
    const detail = `must be less than or equal to ${indexedParallelismMax} when completion mode is Indexed`;
    errors.invalid(`${field}.parallelism`, parallelism, detail);
  }
  if (completions !== undefined && maxFailedIndexes > completions && spec.maxFailedIndexes !== undefined) {
    errors.invalid(
      `${field}.maxFailedIndexes`,
      maxFailedIndexes,
      'must be less than or equal to completions',
    );
  }
  if (maxFailedIndexes > failedIndexesMax) {
    const detail = `must be less than or equal to ${failedIndexesMax}`;
    errors.invalid(`${field}.maxFailedIndexes`, maxFailedIndexes, detail);
  }
  if ((completions ?? 0) > manyCompletions && spec.backoffLimitPerIndex !== undefined) {
    checkManyIndexes(spec, field, errors);
  }
}

function checkManyIndexes(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { parallelism = 0, maxFailedIndexes } = spec;
  const detail = `must be less than or equal to ${limitForMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    const missing = `must be specified when completions is above ${manyCompletions}`;
    errors.required(`${field}.maxFailedIndexes`, missing);
  }
  if (parallelism > limitForMany) errors.invalid(`${field}.parallelism`, parallelism, detail);
  if (maxFailedIndexes !== undefined && maxFailedIndexes > limitForMany) {
    errors.invalid(`${field}.maxFailedIndexes`, maxFailedIndexes, detail);
  }
}

/** A job with a failure policy must replace a pod only after it has failed, because the policy needs its failure. */
function checkReplacement(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { podReplacementPolicy: policy, podFailurePolicy } = spec;
  if (policy === undefined) return;
  checkSupported(errors, field, policy, podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']);
}

/** An absent policy defaults to `Always`, so `Always` is reported as a missing value. */
function checkRestartPolicy(
  { spec }: PodTemplateSpec,
  hasFailurePolicy: boolean,
  field: string,
  errors: FieldErrors,
): void {
  const policy = spec.restartPolicy ?? '';
  const at = `${field}.spec.restartPolicy`;
  if (policy === 'Always' || policy === '') errors.required(at, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.notSupported(at, policy, ['OnFailure', 'Never']);
  } else if (hasFailurePolicy && policy !== 'Never') {
    errors.invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}
