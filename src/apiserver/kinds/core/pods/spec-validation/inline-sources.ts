import type {
  CSIVolumeSource,
  GitRepoVolumeSource,
  ISCSIVolumeSource,
} from '../../../../../kube/api/stored/core.ts';
import { inlineSizeAttribute } from '../../../../../kube/inline-volumes.ts';
import type { AddedToCsiVolumeSource } from '../../../../schema/added-fields.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkRelativePath } from '../../../../validation/file-paths.ts';
import { nameRules } from '../../../../validation/names.ts';
import { compareQuantityTexts } from '../../../../validation/quantities.ts';
import { checkIscsiName, checkIscsiTarget } from '../../volumes/sources/iscsi.ts';
import { checkCsiDriverName } from '../../volumes/sources/node-sources.ts';

/** Sources that only pods have, or whose rules differ from those of persistent volumes. */

export function checkGitRepo(
  errors: FieldErrors,
  field: string,
  { repository, directory = '' }: GitRepoVolumeSource,
): void {
  if (repository === '') errors.required(`${field}.repository`);
  checkRelativePath(errors, `${field}.directory`, directory);
}

export function checkInlineCsi(
  errors: FieldErrors,
  field: string,
  csi: CSIVolumeSource & AddedToCsiVolumeSource,
): void {
  checkCsiDriverName(errors, `${field}.driver`, csi.driver);
  checkInlineSize(errors, field, csi);
  const { nodePublishSecretRef: secret } = csi;
  if (secret === undefined) return;
  if (!secret.name) errors.required(`${field}.nodePublishSecretRef.name`);
  else errors.invalidFor(`${field}.name`, secret.name, nameRules.dnsSubdomain(secret.name, false));
}

/** The attribute alone is not checked: on other clusters it may have any value. */
function checkInlineSize(
  errors: FieldErrors,
  field: string,
  { fsSize, volumeAttributes }: CSIVolumeSource & AddedToCsiVolumeSource,
): void {
  if (fsSize === undefined) return;
  if (compareQuantityTexts(fsSize, '0') < 0)
    errors.invalid(`${field}.fsSize`, fsSize, 'must be greater than or equal to 0');
  if (volumeAttributes?.[inlineSizeAttribute])
    errors.forbidden(
      `${field}.fsSize`,
      `may not be set together with ${field}.volumeAttributes[${inlineSizeAttribute}]: both set the size of the volume; remove one of them`,
    );
}

export function checkInlineIscsi(errors: FieldErrors, field: string, iscsi: ISCSIVolumeSource): void {
  const { targetPortal, initiatorName } = iscsi;
  if (targetPortal === '') errors.required(`${field}.targetPortal`);
  checkIscsiTarget(errors, field, iscsi, unknownFormatMessage);
  if (initiatorName !== undefined) {
    checkIscsiName(errors, `${field}.initiatorname`, initiatorName, unknownFormatMessage);
  }
}

const unknownFormatMessage = 'must be valid format starting with iqn, eui, or naa';
