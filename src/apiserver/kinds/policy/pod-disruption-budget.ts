import type { LabelSelector } from '../../../kube/api/stored/meta.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../../kube/api/stored/policy.ts';
import { checkSupported } from '../../validation/enums.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkAtMost100Percent, checkIntOrPercent } from '../../validation/int-or-percent.ts';
import { nameRules } from '../../validation/names.ts';
import { checkLabelSelector } from '../../validation/selectors.ts';
import { checkCounts } from '../core/workloads/status-checks.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';
import { checkConditions } from './conditions.ts';

export const podDisruptionBudgetKind: ServedKind<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  namespaced: true,
  type: 'policy/v1.PodDisruptionBudget',
  nameRule: nameRules.pathSegment,
  allowsAnyFinalizer: true,
  hasStatus: true,
  hasGeneration: true,
  requiresResourceVersion: true,

  prepareCreate(budget) {
    budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  prepareUpdate(budget, old) {
    budget.status = old.status;
  },
  validate: ({ spec }, errors) => checkSpec(spec, errors, false),
  validateUpdate({ spec }, old, errors) {
    checkSpec(spec, errors, isInvalidSelector(old.spec.selector));
  },
  validateStatus({ status }, _old, errors) {
    checkConditions(errors, 'status.conditions', status.conditions ?? []);
    checkCounts(errors, status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']);
  },

  columns: [
    nameColumn,
    { name: 'Min Available', type: 'string' },
    { name: 'Max Unavailable', type: 'string' },
    { name: 'Allowed Disruptions', type: 'integer' },
    ageColumn,
  ],
  row(budget, context) {
    const { minAvailable, maxUnavailable } = budget.spec;
    return [
      budget.metadata.name ?? '',
      String(minAvailable ?? 'N/A'),
      String(maxUnavailable ?? 'N/A'),
      budget.status.disruptionsAllowed,
      age(budget, context),
    ];
  },
};

function checkSpec(spec: PodDisruptionBudgetSpec, errors: FieldErrors, allowsAnyValue: boolean): void {
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.invalid('spec', shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const name of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[name];
    if (value === undefined) continue;
    checkIntOrPercent(errors, `spec.${name}`, value);
    checkAtMost100Percent(errors, `spec.${name}`, value);
  }
  checkLabelSelector(errors, 'spec.selector', spec.selector, { allowsAnyValue });
  const policy = spec.unhealthyPodEvictionPolicy;
  if (policy !== undefined) {
    const supported = ['AlwaysAllow', 'IfHealthyBudget'];
    checkSupported(errors, 'spec.unhealthyPodEvictionPolicy', policy, supported);
  }
}

/** The spec as kube-apiserver prints it in errors: with Go field names. */
function shownSpec(spec: PodDisruptionBudgetSpec): object {
  return {
    MinAvailable: spec.minAvailable ?? null,
    Selector: spec.selector ?? null,
    MaxUnavailable: spec.maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
  };
}

function isInvalidSelector(selector: LabelSelector | undefined): boolean {
  const errors = new FieldErrors();
  checkLabelSelector(errors, '', selector);
  return !errors.isEmpty;
}
