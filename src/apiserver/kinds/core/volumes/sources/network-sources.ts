import type {
  CephFSVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GlusterfsVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  StorageOSVolumeSource,
} from '../../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { isAbsolutePath } from '../../../../validation/file-paths.ts';
import { dnsLabelProblems, rangeProblems } from '../../../../validation/names.ts';

/** Rules for network sources, in pods and in persistent volumes. */

export function checkNfs(errors: FieldErrors, field: string, { server, path }: NFSVolumeSource): void {
  if (server === '') errors.required(`${field}.server`);
  if (path === '') errors.required(`${field}.path`);
  if (!isAbsolutePath(path)) errors.invalid(`${field}.path`, path, 'must be an absolute path');
}

export function checkFibreChannel(errors: FieldErrors, field: string, fc: FCVolumeSource): void {
  const { targetWWNs = [], wwids = [], lun } = fc;
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously';
    errors.invalid(`${field}.targetWWNs`, targetWWNs, detail);
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.required(`${field}.lun`, 'lun is required if targetWWNs is specified');
  else errors.invalidFor(`${field}.lun`, lun, rangeProblems(lun, 0, 255));
}

export function checkRbd(
  errors: FieldErrors,
  field: string,
  { monitors, image }: Pick<RBDVolumeSource, 'monitors' | 'image'>,
): void {
  if (!monitors?.length) errors.required(`${field}.monitors`);
  if (image === '') errors.required(`${field}.image`);
}

export function checkCephFs(
  errors: FieldErrors,
  field: string,
  { monitors }: Pick<CephFSVolumeSource, 'monitors'>,
): void {
  if (!monitors?.length) errors.required(`${field}.monitors`);
}

export function checkGlusterfs(
  errors: FieldErrors,
  field: string,
  { endpoints, path }: GlusterfsVolumeSource,
): void {
  if (endpoints === '') errors.required(`${field}.endpoints`);
  if (path === '') errors.required(`${field}.path`);
}

export function checkFlocker(
  errors: FieldErrors,
  field: string,
  { datasetName = '', datasetUUID = '' }: FlockerVolumeSource,
): void {
  if (datasetName === '' && datasetUUID === '') {
    errors.required(field, 'one of datasetName and datasetUUID is required');
  }
  if (datasetName !== '' && datasetUUID !== '') {
    errors.invalid(field, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/')) {
    errors.invalid(`${field}.datasetName`, datasetName, "must not contain '/'");
  }
}

export function checkQuobyte(
  errors: FieldErrors,
  field: string,
  { registry, volume, tenant = '' }: QuobyteVolumeSource,
): void {
  if (registry === '') errors.required(`${field}.registry`, hostPorts);
  else if (utf8Length(tenant) >= tenantBytesLimit) {
    errors.required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (!hostPort.test(pair)) errors.invalid(`${field}.registry`, registry, hostPorts);
    }
  }
  if (volume === '') errors.required(`${field}.volume`);
}

const tenantBytesLimit = 65;
const hostPorts = 'must be a host:port pair or multiple pairs separated by commas';
const hostPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

type StorageOs = Pick<StorageOSVolumeSource, 'volumeName' | 'volumeNamespace'> & {
  readonly secretRef?: { readonly name?: string | undefined } | undefined;
};

export function checkStorageOs(
  errors: FieldErrors,
  field: string,
  { volumeName = '', volumeNamespace = '', secretRef }: StorageOs,
): void {
  if (volumeName === '') errors.required(`${field}.volumeName`);
  else errors.invalidFor(`${field}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (volumeNamespace !== '') {
    errors.invalidFor(`${field}.volumeNamespace`, volumeNamespace, dnsLabelProblems(volumeNamespace));
  }
  if (secretRef !== undefined && !secretRef.name) errors.required(`${field}.secretRef.name`);
}
