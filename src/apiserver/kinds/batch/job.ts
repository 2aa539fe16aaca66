import type { Job, JobSpec, JobStatus, PodFailurePolicy } from '../../../kube/api/stored/batch.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { nameRules } from '../../validation/names.ts';
import { podWarnings } from '../core/pods/pod-warnings.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate } from '../core/pods/template-rules.ts';
import { nameWarnings } from '../core/workloads/template-checks.ts';
import { containerCells, containerColumns, selectorColumn } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, humanDuration, labelSelectorCell, nameColumn } from '../table-cells.ts';
import { hasTrueCondition } from './job-conditions.ts';
import { generateSelector } from './job-selector.ts';
import { checkJobStatus } from './job-status-validation.ts';
import { checkJobUpdate } from './job-update-validation.ts';
import { checkJob } from './job-validation.ts';

export const jobKind: ServedKind<Job> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  categories: ['all'],
  namespaced: true,
  type: 'batch/v1.Job',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  orphansByDefault: true,
  orphanWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',

  defaults({ metadata, spec }) {
    defaultPodTemplate(spec.template);
    defaultFailurePolicy(spec.podFailurePolicy);
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : int32Max;
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
    spec.manualSelector ??= false;
    // The template and the job share one map on purpose: labels that are added to the template later appear on the job,
    // too.
    const { labels } = spec.template.metadata;
    if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels;
  },
  prepareCreate(job) {
    if (job.spec.manualSelector !== true) generateSelector(job);
    job.status = {};
    dropDisabledFields(job.spec.template.spec);
  },
  prepareUpdate(job, old) {
    job.status = old.status;
    dropDisabledFields(job.spec.template.spec);
  },
  validate: (job, errors) => checkJob(job, errors),
  validateUpdate: checkJobUpdate,
  validateStatus: checkJobStatus,
  warnings: (job, old) => [
    ...(old ? [] : nameWarnings(job.metadata.name)),
    ...(job.metadata.generation === old?.metadata.generation ? [] : jobSpecWarnings('spec', job.spec)),
  ],

  selectableFields: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
  unknownFieldMessage: (field) => `field label "${field}" not supported for Job`,
  columns: [
    nameColumn,
    { name: 'Status', type: 'string' },
    { name: 'Completions', type: 'string' },
    { name: 'Duration', type: 'string' },
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  row(job, context) {
    return [
      job.metadata.name ?? '',
      stateCell(job),
      completionsCell(job),
      durationCell(job.status, context.nowMs),
      age(job, context),
      ...containerCells(job.spec.template),
      labelSelectorCell(job.spec.selector),
    ];
  },
};

const int32Max = 2_147_483_647;

/** Also for the job template of a CronJob. */
export function defaultFailurePolicy(policy: PodFailurePolicy | undefined): void {
  for (const rule of policy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

export function jobSpecWarnings(field: string, spec: JobSpec): readonly string[] {
  const isHuge = (spec.completions ?? 0) > 100_000 && (spec.parallelism ?? 0) > 10_000;
  const pods = podWarnings(spec.template, `${field}.template.`);
  if (spec.completionMode !== 'Indexed' || !isHuge) return pods;
  const detail =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [`${field}: ${detail}`, ...pods];
}

function stateCell({ metadata, status }: Job): string {
  if (hasTrueCondition(status, 'Complete')) return 'Complete';
  if (hasTrueCondition(status, 'Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const state = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) =>
    hasTrueCondition(status, type),
  );
  return state ?? 'Running';
}

function completionsCell({ spec, status }: Job): string {
  const succeeded = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ startTime, completionTime }: JobStatus, nowMs: number): string {
  const startMs = parseTimestamp(startTime);
  if (startMs === undefined) return '';
  return humanDuration((parseTimestamp(completionTime) ?? nowMs) - startMs);
}
