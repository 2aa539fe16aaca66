import type {
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  HostPathVolumeSource,
  LocalVolumeSource,
  SecretReference,
} from '../../schema/generated/core-v1.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { byteLength } from '../../validation/go-text.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../validation/names.ts';

/** Sources that the node itself, or a driver on it, looks after. */

export function checkCsi(errors: FieldErrors, field: string, csi: CSIPersistentVolumeSource): void {
  checkCsiDriverName(errors, `${field}.driver`, csi.driver);
  if (csi.volumeHandle === '') errors.required(`${field}.volumeHandle`);
  for (const key of checkedSecrets) {
    const secret = csi[key];
    if (secret !== undefined) checkSecretReference(errors, `${field}.${key}`, secret);
  }
}

export function checkHostPath(
  errors: FieldErrors,
  field: string,
  { path, type }: HostPathVolumeSource,
): void {
  if (path === '') {
    errors.required(`${field}.path`);
    return;
  }
  checkNoBacksteps(errors, `${field}.path`, path);
  if (type !== undefined && !hostPathTypes.includes(type)) {
    errors.notSupported(`${field}.type`, type, hostPathTypes);
  }
}

export function checkLocal(errors: FieldErrors, field: string, { path }: LocalVolumeSource): void {
  if (path === '') errors.required(`${field}.path`);
  else checkNoBacksteps(errors, `${field}.path`, path);
}

export function checkFlexVolume(errors: FieldErrors, field: string, flex: FlexPersistentVolumeSource): void {
  if (flex.driver === '') errors.required(`${field}.driver`);
  for (const key of Object.keys(flex.options ?? {})) {
    const namespace = key.split('/', 1)[0] ?? key;
    const normalized = `.${namespace.toLowerCase()}`;
    if (normalized.endsWith('.kubernetes.io') || normalized.endsWith('.k8s.io')) {
      errors.invalid(`${field}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved');
    }
  }
}

/** The name of a CSI driver, wherever one is named: a DNS subdomain in any case, of a label's length. */
export function checkCsiDriverName(errors: FieldErrors, field: string, name: string): void {
  if (name === '') {
    errors.required(field);
    return;
  }
  if (byteLength(name) > driverNameBytesMax) errors.tooLong(field, driverNameBytesMax);
  errors.invalidFor(field, name, dnsSubdomainProblems(name.toLowerCase()));
}

const driverNameBytesMax = 63;

/** The secret for staging is missing here: Kubernetes does not look at it. */
const checkedSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

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

function checkSecretReference(
  errors: FieldErrors,
  field: string,
  { name = '', namespace = '' }: SecretReference,
): void {
  if (name === '') errors.required(`${field}.name`);
  else errors.invalidFor(`${field}.name`, name, dnsSubdomainProblems(name));
  if (namespace === '') errors.required(`${field}.namespace`);
  else errors.invalidFor(`${field}.namespace`, namespace, dnsLabelProblems(namespace));
}

function checkNoBacksteps(errors: FieldErrors, field: string, path: string): void {
  if (path.split('/').includes('..')) errors.invalid(field, path, "must not contain '..'");
}
