import type { CronJob, CronJobSpec, JobTemplateSpec } from '../../../kube/api/stored/batch.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import { checkRequiredEnum } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate } from '../core/pods/template-rules.ts';
import { nameWarnings } from '../core/workloads/template-checks.ts';
import { containerCells, containerColumns, selectorColumn } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, labelSelectorCell, nameColumn, noneCell, timeSince } from '../table-cells.ts';
import { cronScheduleProblem, isKnownTimeZone } from './cron-schedule.ts';
import { defaultFailurePolicy, jobSpecWarnings } from './job.ts';
import { checkJobSpec } from './job-validation.ts';

export const cronJobKind: ServedKind<CronJob> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  type: 'batch/v1.CronJob',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,

  defaults({ spec }) {
    // The Job gets its other defaults when it is created.
    defaultPodTemplate(spec.jobTemplate.spec.template);
    defaultFailurePolicy(spec.jobTemplate.spec.podFailurePolicy);
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
  },
  prepareCreate(cronJob) {
    cronJob.status = {};
    dropDisabledFields(cronJob.spec.jobTemplate.spec.template.spec);
  },
  prepareUpdate(cronJob, old) {
    cronJob.status = old.status;
    dropDisabledFields(cronJob.spec.jobTemplate.spec.template.spec);
  },
  validate(cronJob, errors) {
    checkSpec(cronJob.spec, undefined, errors);
    const name = cronJob.metadata.name ?? '';
    if (utf8Length(name) > nameBytesMax) {
      errors.invalid('metadata.name', name, `must be no more than ${nameBytesMax} characters`);
    }
  },
  validateUpdate: ({ spec }, old, errors) => checkSpec(spec, old.spec, errors),
  warnings: ({ metadata, spec }, old) => [
    ...(old ? [] : nameWarnings(metadata.name)),
    ...(metadata.generation === old?.metadata.generation
      ? []
      : jobSpecWarnings('spec.jobTemplate.spec', spec.jobTemplate.spec)),
    ...(old && spec.schedule.includes('TZ') ? [timeZoneWarning] : []),
  ],

  columns: [
    nameColumn,
    { name: 'Schedule', type: 'string' },
    { name: 'Timezone', type: 'string' },
    { name: 'Suspend', type: 'boolean' },
    { name: 'Active', type: 'integer' },
    { name: 'Last Schedule', type: 'string' },
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  row(cronJob, context) {
    const { spec, status } = cronJob;
    const { lastScheduleTime } = status;
    return [
      cronJob.metadata.name ?? '',
      spec.schedule,
      spec.timeZone ?? noneCell,
      spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
      status.active?.length ?? 0,
      lastScheduleTime === undefined ? noneCell : timeSince(lastScheduleTime, context.nowMs),
      age(cronJob, context),
      ...containerCells(spec.jobTemplate.spec.template),
      labelSelectorCell(spec.jobTemplate.spec.selector),
    ];
  },
};

/** The controller appends 11 characters to make the names of Jobs, which may have 63. */
const nameBytesMax = 52;

const timeZoneWarning =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

function checkSpec(spec: CronJobSpec, old: CronJobSpec | undefined, errors: FieldErrors): void {
  if (spec.schedule === '') errors.required('spec.schedule');
  else checkSchedule(spec, old?.schedule.includes('TZ') === true, errors);
  checkNonNegative(errors, 'spec.startingDeadlineSeconds', spec.startingDeadlineSeconds ?? 0);
  if (spec.timeZone !== undefined && spec.timeZone !== old?.timeZone) checkTimeZone(spec.timeZone, errors);
  checkRequiredEnum(errors, 'spec.concurrencyPolicy', spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']);
  checkJobTemplate(spec.jobTemplate, errors);
  checkNonNegative(errors, 'spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit ?? 0);
  checkNonNegative(errors, 'spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit ?? 0);
}

function checkSchedule({ schedule, timeZone }: CronJobSpec, allowsZone: boolean, errors: FieldErrors): void {
  const field = 'spec.schedule';
  const problem = cronScheduleProblem(schedule);
  if (problem !== undefined) errors.invalid(field, schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (!allowsZone) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    errors.invalid(field, schedule, detail);
  } else if (timeZone !== undefined) {
    errors.invalid(field, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
}

function checkTimeZone(zone: string, errors: FieldErrors): void {
  const field = 'spec.timeZone';
  if (zone === '') {
    errors.invalid(field, zone, 'timeZone must be nil or non-empty string');
    return;
  }
  const isWellFormed = zone
    .split('/')
    .every((part) => /^(?!\.{1,2}$)(?!-)[A-Za-z.\-_0-9+]{1,14}$/.test(part));
  if (isWellFormed && zone.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    errors.invalid(field, zone, detail);
  }
  if (!isWellFormed || !isKnownTimeZone(zone)) errors.invalid(field, zone, `unknown time zone ${zone}`);
}

function checkJobTemplate({ spec }: JobTemplateSpec, errors: FieldErrors): void {
  const field = 'spec.jobTemplate.spec';
  checkJobSpec(spec, field, errors);
  if (spec.selector) {
    errors.invalid(`${field}.selector`, spec.selector, '`selector` will be auto-generated');
  }
  if (spec.manualSelector === true) {
    errors.notSupported(`${field}.manualSelector`, spec.manualSelector, ['nil', 'false']);
  }
}
