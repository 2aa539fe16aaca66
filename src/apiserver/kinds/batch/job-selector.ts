import type { Job } from '../../../kube/api/stored/batch.ts';
import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { withSortedKeys } from '../../../kube/sorted-keys.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { compileSelector } from '../core/workloads/template-checks.ts';

/** Each label has two names, because the older one had no prefix; pods get both. */
const uidLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid'] as const;
const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'] as const;

/**
 * Gives the pods unique labels and selects by them. Labels of the user stay; `checkGeneratedSelector` reports
 * conflicts. Needs the uid and the name of the job.
 */
export function generateSelector({ metadata, spec }: Job): void {
  const isShared = metadata.labels === spec.template.metadata.labels;
  const generated: Record<string, string> = {};
  for (const key of nameLabels) generated[key] = metadata.name ?? '';
  for (const key of uidLabels) generated[key] = metadata.uid ?? '';
  // Kubernetes prints maps with sorted keys.
  const labels = withSortedKeys<Record<string, string>>({ ...generated, ...spec.template.metadata.labels });
  spec.template.metadata.labels = labels;
  if (isShared) metadata.labels = { ...labels };
  spec.selector ??= {};
  spec.selector.matchLabels = withSortedKeys<Record<string, string>>({
    [uidLabels[1]]: metadata.uid ?? '',
    ...spec.selector.matchLabels,
  });
}

/** `requiresPrefixed`: false for jobs that are older than the prefixed labels. */
export function checkGeneratedSelector(job: Job, errors: FieldErrors, requiresPrefixed: boolean): void {
  const { metadata, spec } = job;
  if (spec.manualSelector === true || !spec.selector) return;
  if (!metadata.uid) errors.required('metadata.uid');
  const expected: Record<string, string> = {};
  for (const age of requiresPrefixed ? ([0, 1] as const) : ([0] as const)) {
    expected[uidLabels[age]] = metadata.uid ?? '';
    expected[nameLabels[age]] = metadata.name ?? '';
  }
  for (const [key, value] of Object.entries(expected)) checkHasLabel(job, errors, key, value);
  const compiled = compileSelector(spec.selector);
  if (compiled.ok && !matchesLabels(compiled.selector, expected)) {
    errors.invalid('spec.selector', spec.selector, '`selector` not auto-generated');
  }
}

/** Whether an existing job has the prefixed labels. */
export function hasPrefixedLabels({ spec }: Job): boolean {
  const labels = spec.template.metadata.labels ?? {};
  return [uidLabels[1], nameLabels[1]].every((key) => Object.hasOwn(labels, key));
}

function checkHasLabel({ spec }: Job, errors: FieldErrors, key: string, value: string): void {
  const { labels } = spec.template.metadata;
  const field = `spec.template.metadata.labels[${key}]`;
  if (labels?.[key] === undefined) errors.required(field, `must be '${value}'`);
  else if (labels[key] !== value) errors.invalid(field, labels, `must be '${value}'`);
}
