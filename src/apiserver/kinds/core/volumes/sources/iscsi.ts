import type { ISCSIVolumeSource } from '../../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { rangeProblems } from '../../../../validation/names.ts';

/** The iSCSI fields that pods and persistent volumes share. */
type Target = Pick<ISCSIVolumeSource, 'iqn' | 'lun' | 'chapAuthDiscovery' | 'chapAuthSession'> & {
  readonly secretRef?: object | undefined;
};

/** `unknownForm` is the message about a name with an unknown prefix: it differs between pods and persistent volumes. */
export function checkIscsiTarget(
  errors: FieldErrors,
  field: string,
  { iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef }: Target,
  unknownForm: string,
): void {
  if (iqn === '') errors.required(`${field}.iqn`);
  else checkIscsiName(errors, `${field}.iqn`, iqn, unknownForm);
  errors.invalidFor(`${field}.lun`, lun, rangeProblems(lun, 0, 255));
  const needsSecret = chapAuthDiscovery === true || chapAuthSession === true;
  if (needsSecret && secretRef === undefined) errors.required(`${field}.secretRef`);
}

export function checkIscsiName(errors: FieldErrors, field: string, name: string, unknownForm: string): void {
  const pattern = names[name.slice(0, 3)];
  if (pattern === undefined) errors.invalid(field, name, unknownForm);
  else if (!pattern.test(name)) errors.invalid(field, name, invalidFormatMessage);
}

export const invalidFormatMessage = 'must be valid format';

/** Patterns by prefix. Kubernetes does not anchor the first one at the start. */
const names: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

/** Checks the kernel's limit on the length of a session name. */
export function sessionNameProblems(
  volumeName: string,
  { initiatorName, targetPortal }: Pick<ISCSIVolumeSource, 'initiatorName' | 'targetPortal'>,
): readonly string[] {
  if (initiatorName === undefined || utf8Length(`${volumeName}:${targetPortal}`) <= 64) return [];
  return [
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
  ];
}
