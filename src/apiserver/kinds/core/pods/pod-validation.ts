import type { Pod } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkPodAnnotations, checkProfileAnnotations } from './pod-annotations.ts';
import { checkImageWhitespace } from './spec-validation/containers.ts';
import { checkPodSpec } from './spec-validation/pod-spec.ts';

export function validatePod(pod: Pod, errors: FieldErrors): void {
  const { spec } = pod;
  checkPod(pod, errors);
  if (spec.ephemeralContainers?.length) {
    errors.forbidden('spec.ephemeralContainers', 'cannot be set on create');
  }
  if (spec.nodeName && spec.schedulingGates?.length) {
    errors.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
  checkProfileAnnotations(errors, 'spec', pod);
}

/** Rules for new and for updated pods. */
export function checkPod(pod: Pod, errors: FieldErrors): void {
  const { metadata, spec } = pod;
  checkPodAnnotations(errors, 'metadata.annotations', pod);
  checkPodSpec(errors, 'spec', spec, { isPod: true, meta: metadata });
  if (!spec.serviceAccountName) checkNoTokens(pod, errors);
  for (const list of ['containers', 'initContainers'] as const) {
    spec[list]?.forEach((container, index) => {
      checkImageWhitespace(errors, `spec.${list}[${index}]`, container);
    });
  }
}

function checkNoTokens({ spec }: Pod, errors: FieldErrors): void {
  spec.volumes?.forEach(({ projected }, index) => {
    projected?.sources?.forEach(({ serviceAccountToken }, sourceIndex) => {
      if (!serviceAccountToken) return;
      const field = `spec.volumes[${index}].projected.sources[${sourceIndex}].serviceAccountToken`;
      errors.forbidden(field, 'must not be specified when serviceAccountName is not set');
    });
  });
}
