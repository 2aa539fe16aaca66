import type {
  CephFSPersistentVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  RBDPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from '../../schema/generated/core-v1.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { byteLength } from '../../validation/go-text.ts';
import { dnsLabelProblems, rangeProblems } from '../../validation/names.ts';

/** Sources that are reached over a network. */

export function checkNfs(errors: FieldErrors, field: string, { server, path }: NFSVolumeSource): void {
  if (server === '') errors.required(`${field}.server`);
  if (path === '') errors.required(`${field}.path`);
  if (!path.startsWith('/')) errors.invalid(`${field}.path`, path, 'must be an absolute path');
}

export function checkIscsi(
  errors: FieldErrors,
  field: string,
  iscsi: ISCSIPersistentVolumeSource,
  volumeName: string,
): void {
  const { targetPortal, iqn, lun, secretRef, initiatorName } = iscsi;
  if (targetPortal === '') errors.required(`${field}.targetPortal`);
  if (initiatorName !== undefined && byteLength(`${volumeName}:${targetPortal}`) > sessionBytesMax) {
    errors.invalid(`${field}.targetportal`, targetPortal, sessionTooLong);
  }
  if (iqn === '') errors.required(`${field}.iqn`);
  else checkInitiator(errors, `${field}.iqn`, iqn);
  errors.invalidFor(`${field}.lun`, lun, rangeProblems(lun, 0, lunMax));
  const wantsSecret = iscsi.chapAuthDiscovery === true || iscsi.chapAuthSession === true;
  if (wantsSecret && secretRef === undefined) errors.required(`${field}.secretRef`);
  if (secretRef !== undefined && !secretRef.name) errors.required(`${field}.secretRef.name`);
  if (initiatorName !== undefined) checkInitiator(errors, `${field}.initiatorname`, initiatorName);
}

export function checkFibreChannel(errors: FieldErrors, field: string, fc: FCVolumeSource): void {
  const { targetWWNs = [], wwids = [], lun } = fc;
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const sentence = 'targetWWNs and wwids can not be specified simultaneously';
    errors.invalid(`${field}.targetWWNs`, targetWWNs, sentence);
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.required(`${field}.lun`, 'lun is required if targetWWNs is specified');
  else errors.invalidFor(`${field}.lun`, lun, rangeProblems(lun, 0, lunMax));
}

export function checkRbd(errors: FieldErrors, field: string, rbd: RBDPersistentVolumeSource): void {
  if ((rbd.monitors ?? []).length === 0) errors.required(`${field}.monitors`);
  if (rbd.image === '') errors.required(`${field}.image`);
}

export function checkCephFs(errors: FieldErrors, field: string, ceph: CephFSPersistentVolumeSource): void {
  if ((ceph.monitors ?? []).length === 0) errors.required(`${field}.monitors`);
}

export function checkGlusterfs(
  errors: FieldErrors,
  field: string,
  { endpoints, path, endpointsNamespace: namespace }: GlusterfsPersistentVolumeSource,
): void {
  if (endpoints === '') errors.required(`${field}.endpoints`);
  if (path === '') errors.required(`${field}.path`);
  if (namespace === undefined) return;
  const problems =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : dnsLabelProblems(namespace);
  errors.invalidFor(`${field}.endpointsNamespace`, namespace, problems);
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
  if (registry === '') errors.required(`${field}.registry`, registryPairs);
  else if (byteLength(tenant) >= tenantBytesLimit) {
    errors.required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (!hostAndPort.test(pair)) errors.invalid(`${field}.registry`, registry, registryPairs);
    }
  }
  if (volume === '') errors.required(`${field}.volume`);
}

export function checkStorageOs(
  errors: FieldErrors,
  field: string,
  { volumeName = '', volumeNamespace = '', secretRef }: StorageOSPersistentVolumeSource,
): void {
  if (volumeName === '') errors.required(`${field}.volumeName`);
  else errors.invalidFor(`${field}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (volumeNamespace !== '') {
    errors.invalidFor(`${field}.volumeNamespace`, volumeNamespace, dnsLabelProblems(volumeNamespace));
  }
  if (secretRef === undefined) return;
  if (!secretRef.name) errors.required(`${field}.secretRef.name`);
  if (!secretRef.namespace) errors.required(`${field}.secretRef.namespace`);
}

const lunMax = 255;
const sessionBytesMax = 64;
const sessionTooLong =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

const tenantBytesLimit = 65;
const registryPairs = 'must be a host:port pair or multiple pairs separated by commas';
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

/** By how they begin; Kubernetes does not ask the first kind to begin at the beginning. */
const initiatorPatterns: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

function checkInitiator(errors: FieldErrors, field: string, name: string): void {
  const pattern = initiatorPatterns[name.slice(0, 3)];
  if (pattern?.test(name) !== true) errors.invalid(field, name, 'must be valid format');
}
