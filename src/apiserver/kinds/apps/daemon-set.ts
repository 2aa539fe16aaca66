import type {
  DaemonSet,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from '../../../kube/api/stored/apps.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { checkAtMost100Percent, checkIntOrPercent, numericValue } from '../../validation/int-or-percent.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { checkLabelSelector, hasInvalidValue } from '../../validation/selectors.ts';
import { podWarnings } from '../core/pods/pod-warnings.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate, validatePodTemplate } from '../core/pods/template-rules.ts';
import { checkCollisions, checkCounts } from '../core/workloads/status-checks.ts';
import {
  checkAlwaysRestarts,
  compileSelector,
  isEmptySelector,
  noMatchMessage,
} from '../core/workloads/template-checks.ts';
import { containerCells, containerColumns, selectorColumn } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, labelSelectorCell, labelsCell, nameColumn } from '../table-cells.ts';

export const daemonSetKind: ServedKind<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  type: 'apps/v1.DaemonSet',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,

  defaults({ spec }) {
    defaultPodTemplate(spec.template);
    defaultUpdateStrategy(spec.updateStrategy);
    spec.revisionHistoryLimit ??= 10;
  },
  prepareCreate(set) {
    set.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    setTemplateGeneration(set, Math.max(1, templateGeneration(set)));
    dropDisabledFields(set.spec.template.spec);
  },
  prepareUpdate(set, old) {
    dropDisabledFields(set.spec.template.spec);
    set.status = old.status;
    const isChanged = !isSemanticallyEqual(set.spec.template, old.spec.template);
    setTemplateGeneration(set, templateGeneration(old) + (isChanged ? 1 : 0));
  },
  prepareStatus(set, old) {
    set.spec = old.spec;
    setTemplateGeneration(set, templateGeneration(old));
  },
  validate: (set, errors) => checkDaemonSet(set, errors, false),
  validateUpdate(set, old, errors) {
    checkImmutable(errors, 'spec.selector', set.spec.selector, old.spec.selector);
    checkDaemonSet(set, errors, hasInvalidValue(old.spec.selector ?? undefined));
  },
  validateStatus: checkStatus,
  warnings(set, old) {
    const isChanged = !old || templateGeneration(set) !== templateGeneration(old);
    return isChanged ? podWarnings(set.spec.template, 'spec.template.') : [];
  },

  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer' },
    { name: 'Current', type: 'integer' },
    { name: 'Ready', type: 'integer' },
    { name: 'Up-to-date', type: 'integer' },
    { name: 'Available', type: 'integer' },
    { name: 'Node Selector', type: 'string' },
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  row(set, context) {
    const { spec, status } = set;
    return [
      set.metadata.name ?? '',
      status.desiredNumberScheduled,
      status.currentNumberScheduled,
      status.numberReady,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      labelsCell(spec.template.spec.nodeSelector),
      age(set, context),
      ...containerCells(spec.template),
      labelSelectorCell(spec.selector ?? undefined),
    ];
  },
};

/** Older API versions counted template changes in a field; this version keeps the count in an annotation. */
const templateGenerationKey = 'deprecated.daemonset.template.generation';

function templateGeneration({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[templateGenerationKey] ?? '';
  return /^[+-]?[0-9]+$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGenerationKey]: String(generation) };
}

function defaultUpdateStrategy(strategy: DaemonSetUpdateStrategy): void {
  strategy.type ||= 'RollingUpdate';
  if (strategy.type !== 'RollingUpdate') return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= 1;
  strategy.rollingUpdate.maxSurge ??= 0;
}

function checkDaemonSet({ spec }: DaemonSet, errors: FieldErrors, allowsAnyValue: boolean): void {
  const { selector, template } = spec;
  checkLabelSelector(errors, 'spec.selector', selector ?? undefined, { allowsAnyValue });
  const compiled = compileSelector(selector);
  if (compiled.ok && !matchesLabels(compiled.selector, template.metadata.labels)) {
    errors.invalid('spec.template.metadata.labels', template.metadata.labels, noMatchMessage);
  }
  if (selector && isEmptySelector(selector)) {
    errors.invalid('spec.selector', selector, 'empty selector is invalid for daemonset');
  }
  validatePodTemplate(template, 'spec.template', errors);
  checkAlwaysRestarts(errors, template, 'DaemonSet');
  checkNonNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds ?? 0);
  checkUpdateStrategy(errors, spec.updateStrategy);
  checkNonNegative(errors, 'spec.revisionHistoryLimit', spec.revisionHistoryLimit ?? 0);
}

function checkUpdateStrategy(errors: FieldErrors, strategy: DaemonSetUpdateStrategy): void {
  const { type = '', rollingUpdate } = strategy;
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: shownRollingUpdate(rollingUpdate) };
    errors.notSupported(field, shown, ['RollingUpdate', 'OnDelete']);
  } else if (rollingUpdate) checkRollingUpdate(errors, `${field}.rollingUpdate`, rollingUpdate);
  else errors.required(`${field}.rollingUpdate`);
}

/** Either new pods start before old ones stop (maxSurge) or afterwards (maxUnavailable): exactly one is non-zero. */
function checkRollingUpdate(errors: FieldErrors, field: string, update: RollingUpdateDaemonSet): void {
  const { maxUnavailable = 0, maxSurge = 0 } = update;
  checkIntOrPercent(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkIntOrPercent(errors, `${field}.maxSurge`, maxSurge);
  checkAtMost100Percent(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkAtMost100Percent(errors, `${field}.maxSurge`, maxSurge);
  const hasUnavailable = numericValue(maxUnavailable) !== 0;
  const hasSurge = numericValue(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    errors.invalid(`${field}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (!hasUnavailable && !hasSurge) {
    errors.required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
  }
}

/** The rolling update as kube-apiserver prints it in errors: with Go field names. */
function shownRollingUpdate(update: RollingUpdateDaemonSet | undefined): object | null {
  return update ? { MaxUnavailable: update.maxUnavailable ?? 0, MaxSurge: update.maxSurge ?? 0 } : null;
}

function checkStatus({ status }: DaemonSet, old: DaemonSet, errors: FieldErrors): void {
  checkCounts(errors, status, [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ]);
  checkCollisions(errors, status, old.status);
}
