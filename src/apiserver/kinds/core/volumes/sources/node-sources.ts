import type { FlexVolumeSource, HostPathVolumeSource } from '../../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkNoParentSegment } from '../../../../validation/file-paths.ts';
import { dnsSubdomainProblems } from '../../../../validation/names.ts';

/** Rules for sources of the node or of a driver on it, in pods and in persistent volumes. */

export function checkHostPath(
  errors: FieldErrors,
  field: string,
  { path, type }: HostPathVolumeSource,
): void {
  if (path === '') {
    errors.required(`${field}.path`);
    return;
  }
  checkNoParentSegment(errors, `${field}.path`, path);
  if (type !== undefined) checkSupported(errors, `${field}.type`, type, hostPathTypes);
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function checkFlexVolume(
  errors: FieldErrors,
  field: string,
  { driver, options = {} }: Pick<FlexVolumeSource, 'driver' | 'options'>,
): void {
  if (driver === '') errors.required(`${field}.driver`);
  for (const option of Object.keys(options)) {
    const namespace = `.${(option.split('/', 1)[0] ?? '').toLowerCase()}`;
    if (!namespace.endsWith('.kubernetes.io') && !namespace.endsWith('.k8s.io')) continue;
    const detail = 'kubernetes.io and k8s.io namespaces are reserved';
    errors.invalid(`${field}.options[${option}]`, option, detail);
  }
}

/** The name of a CSI driver: a DNS subdomain that may have upper case letters, with the length of a label. */
export function checkCsiDriverName(errors: FieldErrors, field: string, name: string): void {
  if (name === '') {
    errors.required(field);
    return;
  }
  if (utf8Length(name) > driverNameBytesMax) errors.tooLong(field, driverNameBytesMax);
  errors.invalidFor(field, name, dnsSubdomainProblems(name.toLowerCase()));
}

const driverNameBytesMax = 63;
