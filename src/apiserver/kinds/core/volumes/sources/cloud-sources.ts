import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  GCEPersistentDiskVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  ScaleIOVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from '../../../../../kube/api/stored/core.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';

/**
 * Rules for disks and shares of clouds and appliances, in pods and in persistent volumes. Kubernetes has removed most
 * of these plugins, but objects that use them are still valid.
 */

export function checkGceDisk(
  errors: FieldErrors,
  field: string,
  { pdName, partition }: GCEPersistentDiskVolumeSource,
): void {
  if (pdName === '') errors.required(`${field}.pdName`);
  checkPartition(errors, `${field}.partition`, partition);
}

export function checkAwsDisk(
  errors: FieldErrors,
  field: string,
  { volumeID, partition }: AWSElasticBlockStoreVolumeSource,
): void {
  if (volumeID === '') errors.required(`${field}.volumeID`);
  checkPartition(errors, `${field}.partition`, partition);
}

function checkPartition(errors: FieldErrors, field: string, partition = 0): void {
  if (partition < 0 || partition > 255) {
    errors.invalid(field, partition, 'must be between 1 and 255, inclusive');
  }
}

export function checkCinder(errors: FieldErrors, field: string, { volumeID, secretRef }: CinderDisk): void {
  if (volumeID === '') errors.required(`${field}.volumeID`);
  if (secretRef !== undefined && !secretRef.name) errors.required(`${field}.secretRef.name`);
}

interface CinderDisk {
  readonly volumeID: string;
  readonly secretRef?: { readonly name?: string | undefined } | undefined;
}

export function checkAzureFile(
  errors: FieldErrors,
  field: string,
  { secretName, shareName }: AzureFileVolumeSource,
): void {
  if (secretName === '') errors.required(`${field}.secretName`);
  if (shareName === '') errors.required(`${field}.shareName`);
}

export function checkAzureDisk(errors: FieldErrors, field: string, disk: AzureDiskVolumeSource): void {
  const { diskName, diskURI, cachingMode, kind } = disk;
  if (diskName === '') errors.required(`${field}.diskName`);
  if (diskURI === '') errors.required(`${field}.diskURI`);
  if (cachingMode !== undefined) {
    checkSupported(errors, `${field}.cachingMode`, cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  }
  if (kind === undefined) return;
  checkSupported(errors, `${field}.kind`, kind, ['Dedicated', 'Managed', 'Shared']);
  const { prefix, form } = kind === 'Managed' ? managedDisk : blobDisk;
  if (!diskURI.startsWith(prefix)) errors.notSupported(`${field}.diskURI`, diskURI, [form]);
}

const managedDisk = {
  prefix: '/subscriptions/',
  form: '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
};
const blobDisk = {
  prefix: 'https://',
  form: 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
};

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

export function checkScaleIo(
  errors: FieldErrors,
  field: string,
  { gateway, system, volumeName = '' }: Pick<ScaleIOVolumeSource, 'gateway' | 'system' | 'volumeName'>,
): void {
  if (gateway === '') errors.required(`${field}.gateway`);
  if (system === '') errors.required(`${field}.system`);
  if (volumeName === '') errors.required(`${field}.volumeName`);
}
