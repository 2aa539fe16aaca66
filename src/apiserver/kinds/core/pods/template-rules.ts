import type { PodTemplateSpec } from '../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkAnnotations, checkLabels } from '../../../validation/labels.ts';
import { checkPodAnnotations, checkProfileAnnotations } from './pod-annotations.ts';
import { defaultPodSpec } from './spec-defaults/pod-spec-defaults.ts';
import { checkPodSpec } from './spec-validation/pod-spec.ts';

/** For every kind that has a pod template: to be called from its `defaults`. */
export function defaultPodTemplate(template: PodTemplateSpec): void {
  dropInitContainerAnnotations(template.metadata);
  defaultPodSpec(template.spec);
}

/**
 * What is wrong with a template at `path` (`spec.template`). Labels are only checked for themselves: that they match a
 * selector is the caller's rule.
 */
export function validatePodTemplate(template: PodTemplateSpec, path: string, errors: FieldErrors): void {
  const { metadata, spec } = template;
  checkLabels(errors, `${path}.labels`, metadata?.labels);
  checkAnnotations(errors, `${path}.annotations`, metadata?.annotations);
  checkPodAnnotations(errors, `${path}.annotations`, template);
  checkPodSpec(errors, `${path}.spec`, spec, { isPod: false });
  checkProfileAnnotations(errors, `${path}.spec`, template);
  if (spec.ephemeralContainers?.length) {
    errors.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template');
  }
}

/** Where init containers were written before they had a field. They would be honoured by nobody. */
export function dropInitContainerAnnotations(metadata: ObjectMeta | undefined): void {
  if (!metadata?.annotations) return;
  for (const stage of ['alpha', 'beta']) {
    delete metadata.annotations[`pod.${stage}.kubernetes.io/init-containers`];
    delete metadata.annotations[`pod.${stage}.kubernetes.io/init-container-statuses`];
  }
}
