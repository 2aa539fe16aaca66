import type { PersistentVolumeClaimTemplate } from '../../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkAnnotations, checkLabels } from '../../../../validation/labels.ts';
import { checkClaimSpec } from '../../volumes/claim-spec-rules.ts';

/** The template of the claim of a generic ephemeral volume. */
export function checkClaimTemplate(
  errors: FieldErrors,
  field: string,
  { metadata, spec }: PersistentVolumeClaimTemplate,
): void {
  checkTemplateMeta(errors, `${field}.metadata`, metadata ?? {});
  checkClaimSpec(errors, `${field}.spec`, spec);
}

/** The claim takes only labels and annotations from the template. */
function checkTemplateMeta(errors: FieldErrors, field: string, meta: ObjectMeta): void {
  checkAnnotations(errors, `${field}.annotations`, meta.annotations);
  checkLabels(errors, `${field}.labels`, meta.labels);
  for (const name of otherMeta) {
    if (meta[name] === undefined) continue;
    errors.forbidden(`${field}.${name === 'uid' ? 'uID' : name}`, 'cannot be set');
  }
}

const otherMeta = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;
