import type { Deployment, DeploymentStrategy } from '../../../kube/api/stored/apps.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { checkAtMost100Percent, checkIntOrPercent, numericValue } from '../../validation/int-or-percent.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { scaleOf } from '../autoscaling/scale.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate, validatePodTemplate } from '../core/pods/template-rules.ts';
import { checkAtMost, checkCollisions, checkCounts } from '../core/workloads/status-checks.ts';
import {
  checkAlwaysRestarts,
  checkOwnSelector,
  checkSelectsTemplate,
  compileOwnSelector,
  nameWarnings,
  templateWarnings,
} from '../core/workloads/template-checks.ts';
import { containerCells, containerColumns, selectorColumn } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, labelSelectorCell, nameColumn } from '../table-cells.ts';

export const deploymentKind: ServedKind<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  type: 'apps/v1.Deployment',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  scale: {
    read: ({ spec, status }) => scaleOf(spec.replicas, status.replicas ?? 0, spec.selector),
    write(deployment, replicas) {
      deployment.spec.replicas = replicas;
    },
  },

  defaults({ spec }) {
    defaultPodTemplate(spec.template);
    spec.replicas ??= 1;
    defaultStrategy(spec.strategy);
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
  },
  prepareCreate(deployment) {
    deployment.status = {};
    dropDisabledFields(deployment.spec.template.spec);
  },
  prepareUpdate(deployment, old) {
    deployment.status = old.status;
    dropDisabledFields(deployment.spec.template.spec);
  },
  prepareStatus(deployment, old) {
    deployment.spec = old.spec;
    deployment.metadata.labels = old.metadata.labels;
  },
  /** Annotations count, because the controller copies them to the ReplicaSets. */
  incrementsGeneration(deployment, old) {
    return (
      !isSemanticallyEqual(deployment.spec, old.spec) ||
      !isSemanticallyEqual(deployment.metadata.annotations, old.metadata.annotations)
    );
  },
  validate: checkDeployment,
  validateUpdate(deployment, old, errors) {
    checkDeployment(deployment, errors);
    checkImmutable(errors, 'spec.selector', deployment.spec.selector, old.spec.selector);
  },
  validateStatus: checkStatus,
  warnings: (deployment, old) => [
    ...(old ? [] : nameWarnings(deployment.metadata.name)),
    ...templateWarnings(deployment, old, deployment.spec.template),
  ],

  columns: [
    nameColumn,
    { name: 'Ready', type: 'string' },
    { name: 'Up-to-date', type: 'string' },
    { name: 'Available', type: 'string' },
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  row(deployment, context) {
    const { spec, status } = deployment;
    return [
      deployment.metadata.name ?? '',
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age(deployment, context),
      ...containerCells(spec.template),
      labelSelectorCell(spec.selector ?? undefined),
    ];
  },
};

function defaultStrategy(strategy: DeploymentStrategy): void {
  strategy.type ||= 'RollingUpdate';
  if (strategy.type !== 'RollingUpdate') return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= '25%';
  strategy.rollingUpdate.maxSurge ??= '25%';
}

function checkDeployment({ spec }: Deployment, errors: FieldErrors): void {
  checkNonNegative(errors, 'spec.replicas', spec.replicas ?? 0);
  checkOwnSelector(errors, spec.selector, 'deployment');
  const selector = compileOwnSelector(errors, spec.selector, 'invalid label selector');
  if (selector) {
    checkSelectsTemplate(errors, selector, spec.template);
    validatePodTemplate(spec.template, 'spec.template', errors);
    // Kubernetes' message names the ReplicaSet that the deployment creates.
    checkAlwaysRestarts(errors, spec.template, 'ReplicaSet');
  }
  checkStrategy(errors, spec.strategy);
  checkNonNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds ?? 0);
  checkNonNegative(errors, 'spec.revisionHistoryLimit', spec.revisionHistoryLimit ?? 0);
  checkDeadline(errors, spec.progressDeadlineSeconds, spec.minReadySeconds ?? 0);
}

function checkDeadline(errors: FieldErrors, seconds: number | undefined, minReadySeconds: number): void {
  if (seconds === undefined) return;
  checkNonNegative(errors, 'spec.progressDeadlineSeconds', seconds);
  if (seconds <= minReadySeconds) {
    errors.invalid('spec.progressDeadlineSeconds', seconds, 'must be greater than minReadySeconds');
  }
}

function checkStrategy(errors: FieldErrors, { type = '', rollingUpdate }: DeploymentStrategy): void {
  const field = 'spec.strategy';
  if (type === 'Recreate') {
    if (rollingUpdate) {
      const detail = "may not be specified when strategy `type` is 'Recreate'";
      errors.forbidden(`${field}.rollingUpdate`, detail);
    }
  } else if (type === 'RollingUpdate') checkRollingUpdate(errors, rollingUpdate);
  else {
    const shown = { Type: type, RollingUpdate: shownRollingUpdate(rollingUpdate) };
    errors.notSupported(field, shown, ['Recreate', 'RollingUpdate']);
  }
}

function checkRollingUpdate(errors: FieldErrors, update: DeploymentStrategy['rollingUpdate']): void {
  const field = 'spec.strategy.rollingUpdate';
  if (!update) {
    errors.required(field, 'this should be defaulted and never be nil');
    return;
  }
  const { maxUnavailable = 0, maxSurge = 0 } = update;
  checkIntOrPercent(errors, `${field}.maxUnavailable`, maxUnavailable);
  checkIntOrPercent(errors, `${field}.maxSurge`, maxSurge);
  if (numericValue(maxUnavailable) === 0 && numericValue(maxSurge) === 0) {
    errors.invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  checkAtMost100Percent(errors, `${field}.maxUnavailable`, maxUnavailable);
}

/** The rolling update as kube-apiserver prints it in errors: with Go field names. */
function shownRollingUpdate(update: DeploymentStrategy['rollingUpdate']): object | null {
  return update ? { MaxUnavailable: update.maxUnavailable ?? 0, MaxSurge: update.maxSurge ?? 0 } : null;
}

function checkStatus({ status }: Deployment, old: Deployment, errors: FieldErrors): void {
  checkCounts(errors, status, [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ]);
  checkAtMost(errors, status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'replicas');
  checkAtMost(errors, status, ['availableReplicas'], 'readyReplicas', 'readyReplicas');
  checkCollisions(errors, status, old.status);
}
