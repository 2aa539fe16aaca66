import type { PodTemplateSpec } from '../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkAnnotations, checkLabels } from '../../../validation/labels.ts';
import { checkPodAnnotations, checkProfileAnnotations } from './pod-annotations.ts';
import { defaultPodSpec } from './spec-defaults/pod-spec-defaults.ts';
import { checkPodSpec } from './spec-validation/pod-spec.ts';

/** Kinds with a pod template call this in their `defaults`. */
export function defaultPodTemplate(template: PodTemplateSpec): void {
  dropInitContainerAnnotations(template.metadata);
  defaultPodSpec(template.spec);
}

/** Validates the template at `path` (`spec.template`). The caller checks that the labels match its selector. */
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

/**
 * Drops the annotations in which init containers were written before they had a field. Nothing reads these annotations
 * any more.
 */
export function dropInitContainerAnnotations(metadata: ObjectMeta | undefined): void {
  if (!metadata?.annotations) return;
  for (const stage of ['alpha', 'beta']) {
    delete metadata.annotations[`pod.${stage}.kubernetes.io/init-containers`];
    delete metadata.annotations[`pod.${stage}.kubernetes.io/init-container-statuses`];
  }
}
