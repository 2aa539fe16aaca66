import type {
  Affinity,
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '../../../../kube/api/stored/core.ts';
import type { Int64 } from '../../../../kube/api/stored/meta.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { internalForm } from '../../../validation/internal-form.ts';
import { checkAnnotationUpdate, checkPodAnnotations } from './pod-annotations.ts';
import { checkPod } from './pod-validation.ts';
import { checkTolerations } from './spec-validation/placement.ts';

/**
 * Only a few fields of a pod's spec may change: images, activeDeadlineSeconds, tolerations (additions only), scheduling
 * gates (removals only), and, while the pod has scheduling gates, its node selector and node affinity.
 */
export function validatePodUpdate(pod: Pod, old: Pod, errors: FieldErrors): void {
  checkPod(pod, errors);
  checkAnnotationUpdate(errors, 'metadata.annotations', pod.metadata, old.metadata);
  checkPodAnnotations(errors, 'metadata.annotations', pod);
  for (const list of ['containers', 'initContainers'] as const) {
    if (!checkImages(errors, `spec.${list}`, pod.spec[list] ?? [], old.spec[list] ?? [])) return;
  }
  if (!checkDeadline(errors, pod.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds)) return;
  checkAddedTolerations(errors, pod.spec.tolerations ?? [], old.spec.tolerations ?? []);
  checkDeletedGates(errors, pod.spec, old.spec);
  if (isSemanticallyEqual(pod.spec, old.spec)) return;
  const rest = withMutableFieldsReset(pod.spec, old.spec);
  if (old.spec.schedulingGates?.length) checkGatedPlacement(errors, rest, old.spec);
  if (!isSemanticallyEqual(rest, old.spec)) errors.forbidden('spec', otherFields);
}

const int32Max = 2_147_483_647;

/**
 * Kubernetes appends a diff of its internal types to this message. We leave the diff out: it adds nothing to the two
 * objects.
 */
const otherFields = [
  'pod updates may not change fields other than `spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** Returns whether both lists have the same length, so that the rest can be compared. */
function checkImages(
  errors: FieldErrors,
  field: string,
  containers: readonly Container[],
  old: readonly Container[],
): boolean {
  if (containers.length !== old.length) {
    errors.forbidden(field, 'pod updates may not add or remove containers');
    return false;
  }
  containers.forEach(({ image = '' }, index) => {
    const at = `${field}[${index}].image`;
    if (image === '') errors.required(at);
    if (image !== image.trim()) errors.invalid(at, image, 'must not have leading or trailing whitespace');
  });
  return true;
}

function checkDeadline(errors: FieldErrors, seconds: Int64 | undefined, old: Int64 | undefined): boolean {
  const field = 'spec.activeDeadlineSeconds';
  if (seconds === undefined) {
    if (old !== undefined) {
      errors.invalid(field, null, 'must not update from a positive integer to nil value');
    }
    return true;
  }
  if (seconds < 0 || seconds > int32Max) {
    errors.invalid(field, seconds, `must be between 0 and ${int32Max}, inclusive`);
    return false;
  }
  if (old === undefined || seconds <= old) return true;
  errors.invalid(field, seconds, 'must be less than or equal to previous value');
  return false;
}

function checkAddedTolerations(
  errors: FieldErrors,
  tolerations: readonly Toleration[],
  old: readonly Toleration[],
): void {
  const field = 'spec.tolerations';
  const kept = new Set(tolerations.map(withoutSeconds));
  if (old.every((before) => kept.has(withoutSeconds(before)))) {
    checkTolerations(errors, field, tolerations);
    return;
  }
  errors.forbidden(field, 'existing toleration can not be modified except its tolerationSeconds');
}

/** Equal tolerations have equal texts, except for their seconds. A pod may have so many that comparing each pair takes minutes. */
function withoutSeconds({ key = '', operator = '', value = '', effect = '' }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

function checkDeletedGates(errors: FieldErrors, spec: PodSpec, old: PodSpec): void {
  const before = new Set(old.schedulingGates?.map(({ name }) => name));
  const added = new Map<string, number>();
  spec.schedulingGates?.forEach(({ name }, index) => {
    if (!before.has(name)) added.set(name, index);
  });
  for (const [name, index] of added) {
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.forbidden(`spec.schedulingGates[${index}].name`, detail);
  }
}

/** The new spec, in which all fields that may change, or that have their own rules, have their old values. */
function withMutableFieldsReset(spec: PodSpec, old: PodSpec): PodSpec {
  const withOldImages = (containers: Container[] | null | undefined, before: Container[] = []): Container[] =>
    (containers ?? []).map((container, index) => ({ ...container, image: before[index]?.image }));
  const rest: PodSpec = {
    ...spec,
    containers: withOldImages(spec.containers, old.containers ?? []),
    initContainers: withOldImages(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  };
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    rest.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  return rest;
}

/** A gated pod may restrict its placement further, but not relax it. Resets the fields that this function checks. */
function checkGatedPlacement(errors: FieldErrors, rest: PodSpec, old: PodSpec): void {
  const { nodeSelector = {} } = rest;
  const isNarrower = Object.entries(old.nodeSelector ?? {}).every(
    ([key, value]) => nodeSelector[key] === value,
  );
  if (!isNarrower) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.invalid('spec.nodeSelector', rest.nodeSelector, detail);
  }
  rest.nodeSelector = old.nodeSelector;
  const before = old.affinity?.nodeAffinity;
  if (isSemanticallyEqual(rest.affinity?.nodeAffinity, before)) return;
  checkNarrowedAffinity(errors, rest.affinity?.nodeAffinity, before);
  const affinity: Affinity = { ...rest.affinity, nodeAffinity: before };
  rest.affinity = affinity;
}

function checkNarrowedAffinity(
  errors: FieldErrors,
  affinity: NodeAffinity | undefined,
  old: NodeAffinity | undefined,
): void {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const field = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  const before = old?.[required]?.nodeSelectorTerms ?? [];
  const now = affinity?.[required]?.nodeSelectorTerms ?? [];
  if (before.length === 0) return;
  if (before.length !== now.length) {
    const shown = affinity?.[required] ? now.map(shownTerm) : null;
    errors.invalid(field, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
    return;
  }
  before.forEach((term, index) => {
    const next = now[index] ?? {};
    if (hasOnlyAdditions(next, term)) return;
    const detail = 'only additions are allowed (no mutations or deletions)';
    errors.invalid(`${field}[${index}]`, shownTerm(next), detail);
  });
}

function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  if (lists.every((list) => !old[list]?.length)) return lists.every((list) => !term[list]?.length);
  return lists.every((list) => {
    const before = old[list] ?? [];
    return isSemanticallyEqual(term[list]?.slice(0, before.length), before);
  });
}

function shownTerm(term: NodeSelectorTerm): object {
  const requirements = (list: NodeSelectorTerm['matchFields']): object[] | undefined =>
    list?.map((requirement) => internalForm(requirement, ['key', 'operator', 'values']));
  const { matchExpressions, matchFields } = term;
  const shown = { matchExpressions: requirements(matchExpressions), matchFields: requirements(matchFields) };
  return internalForm(shown, ['matchExpressions', 'matchFields']);
}
