import type { Volume } from '../../schema/generated/core-v1.ts';
import { checkSupported } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { byteLength } from '../../validation/go-text.ts';
import { dnsLabelProblems, dnsSubdomainProblems, nameRules, rangeProblems } from '../../validation/names.ts';
import { checkDescendingPath, checkNoBackstep, isAbsolute } from './paths.ts';

/** Sources of volumes by themselves. `field` is where the source is; of the volume only that source is looked at. */

export function checkHostPath(errors: FieldErrors, field: string, { hostPath }: Volume): void {
  if (!hostPath?.path) {
    errors.required(`${field}.path`);
    return;
  }
  checkNoBackstep(errors, `${field}.path`, hostPath.path);
  if (hostPath.type !== undefined) checkSupported(errors, `${field}.type`, hostPath.type, hostPathTypes);
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

export function checkCsi(errors: FieldErrors, field: string, { csi }: Volume): void {
  checkDriverName(errors, `${field}.driver`, csi?.driver ?? '');
  const secret = csi?.nodePublishSecretRef;
  if (secret === undefined) return;
  if (!secret.name) errors.required(`${field}.nodePublishSecretRef.name`);
  else errors.invalidFor(`${field}.name`, secret.name, nameRules.dnsSubdomain(secret.name, false));
}

function checkDriverName(errors: FieldErrors, field: string, driver: string): void {
  if (driver === '') {
    errors.required(field);
    return;
  }
  if (byteLength(driver) > driverNameBytesMax) errors.tooLong(field, driverNameBytesMax);
  errors.invalidFor(field, driver, dnsSubdomainProblems(driver.toLowerCase()));
}

const driverNameBytesMax = 63;

export function checkNfs(errors: FieldErrors, field: string, { nfs }: Volume): void {
  const path = nfs?.path ?? '';
  if (!nfs?.server) errors.required(`${field}.server`);
  if (path === '') errors.required(`${field}.path`);
  if (!isAbsolute(path)) errors.invalid(`${field}.path`, path, 'must be an absolute path');
}

export function checkIscsi(errors: FieldErrors, field: string, { iscsi }: Volume): void {
  if (iscsi === undefined) return;
  if (iscsi.targetPortal === '') errors.required(`${field}.targetPortal`);
  if (iscsi.iqn === '') errors.required(`${field}.iqn`);
  else checkIscsiName(errors, `${field}.iqn`, iscsi.iqn);
  errors.invalidFor(`${field}.lun`, iscsi.lun, rangeProblems(iscsi.lun, 0, 255));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) {
    errors.required(`${field}.secretRef`);
  }
  if (iscsi.initiatorName !== undefined) {
    checkIscsiName(errors, `${field}.initiatorname`, iscsi.initiatorName);
  }
}

/** The kernel's limit on the name of a session. */
export function checkInitiatorLength(errors: FieldErrors, field: string, { name, iscsi }: Volume): void {
  if (iscsi?.initiatorName === undefined) return;
  if (byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return;
  const sentence =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  errors.invalid(field, name, sentence);
}

function checkIscsiName(errors: FieldErrors, field: string, name: string): void {
  const pattern = iscsiNames[name.slice(0, 3)];
  if (pattern === undefined) {
    errors.invalid(field, name, 'must be valid format starting with iqn, eui, or naa');
  } else if (!pattern.test(name)) errors.invalid(field, name, 'must be valid format');
}

const iscsiNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

export function checkFibreChannel(errors: FieldErrors, field: string, { fc }: Volume): void {
  const targets = fc?.targetWWNs ?? [];
  const hasIds = (fc?.wwids?.length ?? 0) > 0;
  if (targets.length === 0 && !hasIds) {
    errors.required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targets.length === 0) return;
  if (hasIds) {
    const sentence = 'targetWWNs and wwids can not be specified simultaneously';
    errors.invalid(`${field}.targetWWNs`, targets, sentence);
  }
  if (fc?.lun === undefined) errors.required(`${field}.lun`, 'lun is required if targetWWNs is specified');
  else errors.invalidFor(`${field}.lun`, fc.lun, rangeProblems(fc.lun, 0, 255));
}

export function checkGceDisk(errors: FieldErrors, field: string, { gcePersistentDisk: disk }: Volume): void {
  if (!disk?.pdName) errors.required(`${field}.pdName`);
  checkPartition(errors, `${field}.partition`, disk?.partition);
}

export function checkAwsDisk(
  errors: FieldErrors,
  field: string,
  { awsElasticBlockStore: disk }: Volume,
): void {
  if (!disk?.volumeID) errors.required(`${field}.volumeID`);
  checkPartition(errors, `${field}.partition`, disk?.partition);
}

function checkPartition(errors: FieldErrors, field: string, partition = 0): void {
  if (partition < 0 || partition > 255) {
    errors.invalid(field, partition, 'must be between 1 and 255, inclusive');
  }
}

export function checkAzureDisk(errors: FieldErrors, field: string, { azureDisk: disk }: Volume): void {
  const { diskName = '', diskURI = '', cachingMode, kind } = disk ?? {};
  if (diskName === '') errors.required(`${field}.diskName`);
  if (diskURI === '') errors.required(`${field}.diskURI`);
  if (cachingMode !== undefined) {
    checkSupported(errors, `${field}.cachingMode`, cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  }
  if (kind === undefined) return;
  checkSupported(errors, `${field}.kind`, kind, ['Dedicated', 'Managed', 'Shared']);
  const prefix = kind === 'Managed' ? '/subscriptions/' : 'https://';
  if (!diskURI.startsWith(prefix)) {
    errors.notSupported(`${field}.diskURI`, diskURI, [kind === 'Managed' ? managedUri : blobUri]);
  }
}

const managedUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function checkAzureFile(errors: FieldErrors, field: string, { azureFile }: Volume): void {
  if (!azureFile?.secretName) errors.required(`${field}.secretName`);
  if (!azureFile?.shareName) errors.required(`${field}.shareName`);
}

export function checkCinder(errors: FieldErrors, field: string, { cinder }: Volume): void {
  if (!cinder?.volumeID) errors.required(`${field}.volumeID`);
  if (cinder?.secretRef && !cinder.secretRef.name) errors.required(`${field}.secretRef.name`);
}

export function checkRbd(errors: FieldErrors, field: string, { rbd }: Volume): void {
  if (!rbd?.monitors?.length) errors.required(`${field}.monitors`);
  if (!rbd?.image) errors.required(`${field}.image`);
}

export function checkCephfs(errors: FieldErrors, field: string, { cephfs }: Volume): void {
  if (!cephfs?.monitors?.length) errors.required(`${field}.monitors`);
}

export function checkVsphere(errors: FieldErrors, field: string, { vsphereVolume }: Volume): void {
  if (!vsphereVolume?.volumePath) errors.required(`${field}.volumePath`);
}

export function checkPortworx(errors: FieldErrors, field: string, { portworxVolume }: Volume): void {
  if (!portworxVolume?.volumeID) errors.required(`${field}.volumeID`);
}

export function checkPhotonDisk(
  errors: FieldErrors,
  field: string,
  { photonPersistentDisk: disk }: Volume,
): void {
  if (!disk?.pdID) errors.required(`${field}.pdID`);
}

export function checkGitRepo(errors: FieldErrors, field: string, { gitRepo }: Volume): void {
  if (!gitRepo?.repository) errors.required(`${field}.repository`);
  checkDescendingPath(errors, `${field}.directory`, gitRepo?.directory ?? '');
}

export function checkGlusterfs(errors: FieldErrors, field: string, { glusterfs }: Volume): void {
  if (!glusterfs?.endpoints) errors.required(`${field}.endpoints`);
  if (!glusterfs?.path) errors.required(`${field}.path`);
}

export function checkFlocker(errors: FieldErrors, field: string, { flocker }: Volume): void {
  const { datasetName = '', datasetUUID = '' } = flocker ?? {};
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

export function checkQuobyte(errors: FieldErrors, field: string, { quobyte }: Volume): void {
  const { registry = '', tenant = '', volume = '' } = quobyte ?? {};
  if (registry === '') errors.required(`${field}.registry`, hostPorts);
  else if (byteLength(tenant) >= 65) {
    errors.required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (!hostPort.test(pair)) errors.invalid(`${field}.registry`, registry, hostPorts);
    }
  }
  if (volume === '') errors.required(`${field}.volume`);
}

const hostPorts = 'must be a host:port pair or multiple pairs separated by commas';
const hostPort = /^(?:[^[\]:]*|\[[^[\]]*\]):[^[\]:]*$/;

export function checkScaleio(errors: FieldErrors, field: string, { scaleIO }: Volume): void {
  if (!scaleIO?.gateway) errors.required(`${field}.gateway`);
  if (!scaleIO?.system) errors.required(`${field}.system`);
  if (!scaleIO?.volumeName) errors.required(`${field}.volumeName`);
}

export function checkStorageos(errors: FieldErrors, field: string, { storageos }: Volume): void {
  const { volumeName = '', volumeNamespace = '', secretRef } = storageos ?? {};
  if (volumeName === '') errors.required(`${field}.volumeName`);
  else errors.invalidFor(`${field}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (volumeNamespace !== '') {
    errors.invalidFor(`${field}.volumeNamespace`, volumeNamespace, dnsLabelProblems(volumeNamespace));
  }
  if (secretRef && !secretRef.name) errors.required(`${field}.secretRef.name`);
}

export function checkFlexVolume(errors: FieldErrors, field: string, { flexVolume }: Volume): void {
  if (!flexVolume?.driver) errors.required(`${field}.driver`);
  for (const option of Object.keys(flexVolume?.options ?? {})) {
    const namespace = `.${(option.split('/', 1)[0] ?? '').toLowerCase()}`;
    if (!namespace.endsWith('.kubernetes.io') && !namespace.endsWith('.k8s.io')) continue;
    const sentence = 'kubernetes.io and k8s.io namespaces are reserved';
    errors.invalid(`${field}.options[${option}]`, option, sentence);
  }
}
