import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkNoParentSegment } from '../../../validation/file-paths.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../validation/names.ts';
import * as cloud from './sources/cloud-sources.ts';
import {
  checkIscsiName,
  checkIscsiTarget,
  invalidFormatMessage,
  sessionNameProblems,
} from './sources/iscsi.ts';
import * as network from './sources/network-sources.ts';
import { checkCsiDriverName } from './sources/node-sources.ts';

/** Sources with more rules in a persistent volume than in a pod: mostly the namespace of a secret. */

export function checkPersistentCsi(errors: FieldErrors, field: string, csi: CSIPersistentVolumeSource): void {
  checkCsiDriverName(errors, `${field}.driver`, csi.driver);
  if (csi.volumeHandle === '') errors.required(`${field}.volumeHandle`);
  for (const key of checkedSecrets) {
    const secret = csi[key];
    if (secret !== undefined) checkSecretReference(errors, `${field}.${key}`, secret);
  }
}

/** Kubernetes does not validate nodeStageSecretRef. */
const checkedSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

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

export function checkLocal(errors: FieldErrors, field: string, { path }: LocalVolumeSource): void {
  if (path === '') errors.required(`${field}.path`);
  else checkNoParentSegment(errors, `${field}.path`, path);
}

export function checkPersistentIscsi(
  errors: FieldErrors,
  field: string,
  iscsi: ISCSIPersistentVolumeSource,
  volumeName: string,
): void {
  const { targetPortal, secretRef, initiatorName } = iscsi;
  if (targetPortal === '') errors.required(`${field}.targetPortal`);
  errors.invalidFor(`${field}.targetportal`, targetPortal, sessionNameProblems(volumeName, iscsi));
  checkIscsiTarget(errors, field, iscsi, invalidFormatMessage);
  if (secretRef !== undefined && !secretRef.name) errors.required(`${field}.secretRef.name`);
  if (initiatorName !== undefined) {
    checkIscsiName(errors, `${field}.initiatorname`, initiatorName, invalidFormatMessage);
  }
}

export function checkPersistentGlusterfs(
  errors: FieldErrors,
  field: string,
  source: GlusterfsPersistentVolumeSource,
): void {
  network.checkGlusterfs(errors, field, source);
  const { endpointsNamespace: namespace } = source;
  if (namespace === undefined) return;
  const problems =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : dnsLabelProblems(namespace);
  errors.invalidFor(`${field}.endpointsNamespace`, namespace, problems);
}

export function checkPersistentStorageOs(
  errors: FieldErrors,
  field: string,
  source: StorageOSPersistentVolumeSource,
): void {
  network.checkStorageOs(errors, field, source);
  checkSecretNamespace(errors, field, source.secretRef);
}

export function checkPersistentCinder(
  errors: FieldErrors,
  field: string,
  source: CinderPersistentVolumeSource,
): void {
  cloud.checkCinder(errors, field, source);
  checkSecretNamespace(errors, field, source.secretRef);
}

function checkSecretNamespace(errors: FieldErrors, field: string, secret: SecretReference | undefined): void {
  if (secret !== undefined && !secret.namespace) errors.required(`${field}.secretRef.namespace`);
}

export function checkPersistentAzureFile(
  errors: FieldErrors,
  field: string,
  source: AzureFilePersistentVolumeSource,
): void {
  cloud.checkAzureFile(errors, field, source);
  if (source.secretNamespace === '') errors.required(`${field}.secretNamespace`);
}
