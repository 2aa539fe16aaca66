import type {
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  ScaleIOPersistentVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from '../../schema/generated/core-v1.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';

/** Disks and shares of clouds and appliances. Most are gone from Kubernetes, but objects that name them are still valid. */

/** A disk of Google or Amazon, which differ in what they call its name. */
export function checkDisk<K extends string>(
  errors: FieldErrors,
  field: string,
  nameKey: K,
  disk: Readonly<Record<K, string>> & { readonly partition?: number | undefined },
): void {
  if (disk[nameKey] === '') errors.required(`${field}.${nameKey}`);
  const { partition = 0 } = disk;
  if (partition < 0 || partition > 255) {
    errors.invalid(`${field}.partition`, partition, 'must be between 1 and 255, inclusive');
  }
}

export function checkCinder(
  errors: FieldErrors,
  field: string,
  { volumeID, secretRef }: CinderPersistentVolumeSource,
): void {
  if (volumeID === '') errors.required(`${field}.volumeID`);
  if (secretRef === undefined) return;
  if (!secretRef.name) errors.required(`${field}.secretRef.name`);
  if (!secretRef.namespace) errors.required(`${field}.secretRef.namespace`);
}

export function checkAzureFile(
  errors: FieldErrors,
  field: string,
  { secretName, shareName, secretNamespace }: AzureFilePersistentVolumeSource,
): void {
  if (secretName === '') errors.required(`${field}.secretName`);
  if (shareName === '') errors.required(`${field}.shareName`);
  if (secretNamespace === '') errors.required(`${field}.secretNamespace`);
}

export function checkAzureDisk(errors: FieldErrors, field: string, disk: AzureDiskVolumeSource): void {
  const { diskName, diskURI, cachingMode, kind } = disk;
  if (diskName === '') errors.required(`${field}.diskName`);
  if (diskURI === '') errors.required(`${field}.diskURI`);
  if (cachingMode !== undefined && !azureCachingModes.includes(cachingMode)) {
    errors.notSupported(`${field}.cachingMode`, cachingMode, azureCachingModes);
  }
  if (kind === undefined) return;
  if (!azureDiskKinds.includes(kind)) errors.notSupported(`${field}.kind`, kind, azureDiskKinds);
  const { prefix, form } = kind === 'Managed' ? managedDisk : blobDisk;
  if (!diskURI.startsWith(prefix)) errors.notSupported(`${field}.diskURI`, diskURI, [form]);
}

export function checkVsphere(errors: FieldErrors, field: string, disk: VsphereVirtualDiskVolumeSource): void {
  if (disk.volumePath === '') errors.required(`${field}.volumePath`);
}

export function checkPhotonDisk(
  errors: FieldErrors,
  field: string,
  disk: PhotonPersistentDiskVolumeSource,
): void {
  if (disk.pdID === '') errors.required(`${field}.pdID`);
}

export function checkPortworx(errors: FieldErrors, field: string, volume: PortworxVolumeSource): void {
  if (volume.volumeID === '') errors.required(`${field}.volumeID`);
}

export function checkScaleIO(
  errors: FieldErrors,
  field: string,
  { gateway, system, volumeName = '' }: ScaleIOPersistentVolumeSource,
): void {
  if (gateway === '') errors.required(`${field}.gateway`);
  if (system === '') errors.required(`${field}.system`);
  if (volumeName === '') errors.required(`${field}.volumeName`);
}

const azureCachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const azureDiskKinds = ['Dedicated', 'Managed', 'Shared'];

const managedDisk = {
  prefix: '/subscriptions/',
  form: '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
};
const blobDisk = {
  prefix: 'https://',
  form: 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
};
