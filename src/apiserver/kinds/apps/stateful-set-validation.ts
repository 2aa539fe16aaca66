import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../../kube/api/stored/apps.ts';
import type { PersistentVolumeClaim, PodTemplateSpec, Volume } from '../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { checkSupported } from '../../validation/enums.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkAtMost100Percent, checkIntOrPercent, numericValue } from '../../validation/int-or-percent.ts';
import { checkAnnotations, checkLabels } from '../../validation/labels.ts';
import { dnsLabelProblems } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { checkPodAnnotations } from '../core/pods/pod-annotations.ts';
import { validatePodTemplate } from '../core/pods/template-rules.ts';
import { checkClaimSpec } from '../core/volumes/claim-spec-rules.ts';
import { checkAtMost, checkCollisions, checkCounts } from '../core/workloads/status-checks.ts';
import {
  checkAlwaysRestarts,
  checkOwnSelector,
  checkSelectsTemplate,
  compileOwnSelector,
} from '../core/workloads/template-checks.ts';

export function checkStatefulSet({ spec }: StatefulSet, errors: FieldErrors): void {
  checkSpec(spec, errors, {});
}

/**
 * Immutable fields are not validated again, and a template is not validated if the old one was already invalid:
 * otherwise a set that is older than a rule could not even be scaled.
 */
export function checkStatefulSetUpdate(set: StatefulSet, old: StatefulSet, errors: FieldErrors): void {
  const before = new FieldErrors();
  checkSpec(old.spec, before, { isUpdate: true });
  checkSpec(set.spec, errors, { isUpdate: true, keepsTemplate: !before.isEmpty });
  if (!isSemanticallyEqual(fixedFields(set.spec), fixedFields(old.spec)))
    errors.forbidden('spec', changeMessage);
}

export function checkStatefulSetStatus({ status }: StatefulSet, old: StatefulSet, errors: FieldErrors): void {
  checkCounts(errors, status, ['replicas', ...partNames, 'observedGeneration', 'collisionCount']);
  checkAtMost(errors, status, partNames, 'replicas');
  checkAtMost(errors, status, ['availableReplicas'], 'readyReplicas');
  checkCollisions(errors, status, old.status);
}

const partNames = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;

const changeMessage =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

interface Leniency {
  readonly isUpdate?: boolean;
  readonly keepsTemplate?: boolean;
}

function checkSpec(spec: StatefulSetSpec, errors: FieldErrors, leniency: Leniency): void {
  checkPodManagement(errors, spec.podManagementPolicy);
  checkUpdateStrategy(errors, spec.updateStrategy);
  checkRetention(errors, spec);
  if (!leniency.isUpdate) checkClaimTemplates(errors, spec.volumeClaimTemplates ?? []);
  checkNonNegative(errors, 'spec.replicas', spec.replicas ?? 0);
  checkNonNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds ?? 0);
  checkNonNegative(errors, 'spec.ordinals.start', spec.ordinals?.start ?? 0);
  if (!leniency.isUpdate && spec.serviceName !== '') {
    errors.invalidFor('spec.serviceName', spec.serviceName, dnsLabelProblems(spec.serviceName));
  }
  checkOwnSelector(errors, spec.selector, 'statefulset');
  const selector = compileOwnSelector(errors, spec.selector, '');
  if (selector) {
    const template = templateToCheck(spec);
    checkSelectsTemplate(errors, selector, template);
    checkTemplate(errors, template, leniency.keepsTemplate === true);
  }
  checkAlwaysRestarts(errors, spec.template, 'StatefulSet');
}

function checkPodManagement(errors: FieldErrors, policy = ''): void {
  const field = 'spec.podManagementPolicy';
  if (policy === '') errors.required(field);
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.invalid(field, policy, "must be 'OrderedReady' or 'Parallel'");
  }
}

function checkUpdateStrategy(errors: FieldErrors, strategy: StatefulSetUpdateStrategy): void {
  const { type = '', rollingUpdate } = strategy;
  if (type === '') errors.required('spec.updateStrategy');
  else if (type === 'RollingUpdate') {
    if (rollingUpdate) checkRollingUpdate(errors, rollingUpdate);
  } else if (type === 'OnDelete') {
    if (rollingUpdate) {
      const detail = "only allowed for updateStrategy 'RollingUpdate'";
      errors.invalid('spec.updateStrategy.rollingUpdate', shownRollingUpdate(rollingUpdate), detail);
    }
  } else {
    const shown = {
      Type: type,
      RollingUpdate: rollingUpdate ? shownRollingUpdate(rollingUpdate) : null,
    };
    errors.invalid('spec.updateStrategy', shown, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

/** The rolling update as kube-apiserver prints it in errors: with Go field names. */
function shownRollingUpdate({ partition = 0, maxUnavailable }: RollingUpdateStatefulSetStrategy): object {
  return { Partition: partition, MaxUnavailable: maxUnavailable ?? null };
}

function checkRollingUpdate(errors: FieldErrors, update: RollingUpdateStatefulSetStrategy): void {
  checkNonNegative(errors, 'spec.updateStrategy.rollingUpdate.partition', update.partition ?? 0);
  const { maxUnavailable } = update;
  if (maxUnavailable === undefined) return;
  const field = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
  checkIntOrPercent(errors, field, maxUnavailable);
  if (numericValue(maxUnavailable) === 0) errors.invalid(field, maxUnavailable, 'cannot be 0');
  checkAtMost100Percent(errors, field, maxUnavailable);
}

function checkRetention(errors: FieldErrors, spec: StatefulSetSpec): void {
  const policy = spec.persistentVolumeClaimRetentionPolicy;
  if (!policy) return;
  const field = 'spec.persistentVolumeClaimRetentionPolicy';
  checkSupported(errors, `${field}.whenDeleted`, policy.whenDeleted ?? '', ['Retain', 'Delete']);
  checkSupported(errors, `${field}.whenScaled`, policy.whenScaled ?? '', ['Retain', 'Delete']);
}

function checkClaimTemplates(errors: FieldErrors, templates: readonly PersistentVolumeClaim[]): void {
  templates.forEach(({ spec }, index) => {
    checkClaimSpec(errors, `spec.volumeClaimTemplates[${index}].spec`, spec);
  });
}

/**
 * The template as its pods will have it: the controller sets host name and subdomain, and the claims of the set replace
 * the volumes with the same names.
 */
function templateToCheck({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = template.spec;
  if (volumeClaimTemplates.length === 0) return { ...template, spec };
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata.name ?? ''));
  const claims = [...names].map((name): Volume => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = spec.volumes?.filter(({ name }) => !names.has(name)) ?? [];
  return { ...template, spec: { ...spec, volumes: [...claims, ...others] } };
}

/** Labels and annotations are checked, and reported, twice, as in Kubernetes. */
function checkTemplate(errors: FieldErrors, template: PodTemplateSpec, isKept: boolean): void {
  const field = 'spec.template';
  if (!isKept) validatePodTemplate(template, field, errors);
  checkLabels(errors, `${field}.labels`, template.metadata.labels);
  checkAnnotations(errors, `${field}.annotations`, template.metadata.annotations);
  checkPodAnnotations(errors, `${field}.annotations`, template);
}

/** The fields that are immutable after creation. */
function fixedFields(spec: StatefulSetSpec): Partial<StatefulSetSpec> {
  const { selector, volumeClaimTemplates, serviceName, podManagementPolicy } = spec;
  return { selector, volumeClaimTemplates, serviceName, podManagementPolicy };
}
