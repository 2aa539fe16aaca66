import type { Job, JobSpec } from '../../../kube/api/stored/batch.ts';
import type { Container, PodSpec, PodTemplateSpec } from '../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable, immutableMessage } from '../../validation/immutable.ts';
import { hasInvalidValue } from '../../validation/selectors.ts';
import { hasTrueCondition } from './job-conditions.ts';
import { shownFailurePolicy } from './job-failure-policy.ts';
import { hasPrefixedLabels } from './job-selector.ts';
import { shownSuccessPolicy } from './job-success-policy.ts';
import { checkJob, checkSelectedJobSpec, type JobLeniency } from './job-validation.ts';

/** The spec is checked, and reported, twice, as in Kubernetes. */
export function checkJobUpdate(job: Job, old: Job, errors: FieldErrors): void {
  const leniency: JobLeniency = {
    lacksPrefixedLabels: !hasPrefixedLabels(old),
    allowsAnyValue: hasInvalidValue(old.spec.selector),
  };
  checkJob(job, errors, leniency);
  checkSelectedJobSpec(job.spec, errors, leniency);
  checkCompletions(job.spec, old.spec, errors);
  checkImmutable(errors, 'spec.selector', job.spec.selector, old.spec.selector);
  checkTemplate(job, old, errors);
  checkModes(job.spec, old.spec, errors);
}

/** An indexed job can be scaled if its parallelism changes to the same number. */
function checkCompletions(spec: JobSpec, old: JobSpec, errors: FieldErrors): void {
  const field = 'spec.completions';
  const { completions } = spec;
  if (spec.completionMode !== 'Indexed') checkImmutable(errors, field, completions, old.completions);
  else if (completions !== undefined && completions !== old.completions && completions !== spec.parallelism) {
    errors.invalid(field, completions, 'can only be modified in tandem with spec.parallelism');
  }
}

function checkModes(spec: JobSpec, old: JobSpec, errors: FieldErrors): void {
  checkImmutable(errors, 'spec.completionMode', spec.completionMode, old.completionMode);
  if (!isSemanticallyEqual(spec.podFailurePolicy, old.podFailurePolicy)) {
    errors.invalid('spec.podFailurePolicy', shownFailurePolicy(spec.podFailurePolicy), immutableMessage);
  }
  checkImmutable(errors, 'spec.backoffLimitPerIndex', spec.backoffLimitPerIndex, old.backoffLimitPerIndex);
  checkImmutable(errors, 'spec.managedBy', spec.managedBy, old.managedBy);
  if (!isSemanticallyEqual(spec.successPolicy, old.successPolicy)) {
    errors.invalid('spec.successPolicy', shownSuccessPolicy(spec.successPolicy), immutableMessage);
  }
}

/** While a job is suspended, the scheduling directives and resources of its pods may change. */
function checkTemplate(job: Job, old: Job, errors: FieldErrors): void {
  const { template } = job.spec;
  const isOpen = isTemplateOpen(old);
  const oldTemplate = isOpen ? withSchedulingOf(template, old.spec.template) : old.spec.template;
  if (isOpen) {
    const { spec } = template;
    checkImmutable(errors, 'spec.template.spec', spec, withResourcesOf(spec, oldTemplate.spec));
  } else checkImmutable(errors, 'spec.template', template, oldTemplate);
}

function isTemplateOpen({ spec, status }: Job): boolean {
  const isIdle = status.startTime === undefined || hasTrueCondition(status, 'Suspended');
  return spec.suspend === true && isIdle && (status.active ?? 0) === 0;
}

function withSchedulingOf({ metadata, spec }: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates } = spec;
  return {
    metadata: { ...old.metadata, labels: metadata.labels, annotations: metadata.annotations },
    spec: {
      ...old.spec,
      affinity: affinityToCompare(spec.affinity, old.spec.affinity),
      nodeSelector,
      tolerations,
      schedulingGates,
    },
  };
}

/** Only the node affinity may change. */
function affinityToCompare(affinity: PodSpec['affinity'], old: PodSpec['affinity']): PodSpec['affinity'] {
  const { nodeAffinity: _nodeAffinity, ...others } = old ?? {};
  if (affinity) return { ...others, nodeAffinity: affinity.nodeAffinity };
  return Object.keys(others).length === 0 ? undefined : others;
}

function withResourcesOf(spec: PodSpec, old: PodSpec): PodSpec {
  return {
    ...old,
    containers: resourcesOf(spec.containers ?? [], old.containers ?? []),
    initContainers: resourcesOf(spec.initContainers ?? [], old.initContainers ?? []),
  };
}

function resourcesOf(containers: readonly Container[], old: readonly Container[]): Container[] {
  return old.map((container, index) => {
    const changed = containers.length === old.length ? containers[index] : undefined;
    return changed?.name === container.name ? { ...container, resources: changed.resources } : container;
  });
}
