import type {
  EmptyDirVolumeSource,
  PersistentVolumeClaimVolumeSource,
  Volume,
} from '../../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../../kube/api/stored/meta.ts';
import { goQuoted } from '../../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { dnsLabelProblems, nameRules } from '../../../../validation/names.ts';
import { compareQuantityTexts } from '../../../../validation/quantities.ts';
import * as cloud from '../../volumes/sources/cloud-sources.ts';
import { sessionNameProblems } from '../../volumes/sources/iscsi.ts';
import * as network from '../../volumes/sources/network-sources.ts';
import { checkFlexVolume, checkHostPath } from '../../volumes/sources/node-sources.ts';
import { checkClaimTemplate } from './claim-templates.ts';
import { checkPullPolicy } from './container.ts';
import { checkGitRepo, checkInlineCsi, checkInlineIscsi } from './inline-sources.ts';
import { checkConfigMap, checkDownwardApi, checkProjected, checkSecret } from './projections.ts';

export interface VolumeContext {
  readonly isPod: boolean;
  readonly meta?: ObjectMeta;
}

/** Returns the valid volumes by name: containers may mount only these. */
export function checkVolumes(
  errors: FieldErrors,
  field: string,
  volumes: readonly Volume[],
  context: VolumeContext,
): ReadonlyMap<string, Volume> {
  const valid = new Map<string, Volume>();
  const created = claimsToCreate(volumes, context.meta?.name);
  volumes.forEach((volume, index) => {
    const at = `${field}[${index}]`;
    const before = errors.count;
    checkSource(errors, at, volume, context);
    if (volume.name === '') errors.required(`${at}.name`);
    else errors.invalidFor(`${at}.name`, volume.name, dnsLabelProblems(volume.name));
    if (valid.has(volume.name)) errors.duplicate(`${at}.name`, volume.name);
    if (errors.count === before) valid.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && created.has(claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.invalid(`${at}.persistentVolumeClaim.claimName`, claimName, detail);
    }
  });
  return valid;
}

/** The names of the claims that will be created for the pod; empty if the pod has no name yet. */
function claimsToCreate(volumes: readonly Volume[], podName = ''): ReadonlySet<string> {
  const ephemeral = podName === '' ? [] : volumes.filter((volume) => volume.ephemeral);
  return new Set(ephemeral.map(({ name }) => `${podName}-${name}`));
}

type SourceName = Exclude<keyof Volume, 'name'>;

interface SourceRule {
  readonly name: SourceName;
  check(errors: FieldErrors, at: string, volume: Volume, context: VolumeContext): void;
  readonly secondField?: string;
}

function checkSource(errors: FieldErrors, at: string, volume: Volume, context: VolumeContext): void {
  let hasOne = false;
  for (const { name, check, secondField = name } of rules) {
    if (volume[name] === undefined) continue;
    if (hasOne) errors.forbidden(`${at}.${secondField}`, 'may not specify more than 1 volume type');
    else check(errors, at, volume, context);
    hasOne = true;
    if (volume.iscsi !== undefined && name === 'iscsi') {
      errors.invalidFor(`${at}.name`, volume.name, sessionNameProblems(volume.name, volume.iscsi));
    }
  }
  if (!hasOne) errors.required(at, 'must specify a volume type');
}

function checkEmptyDir(errors: FieldErrors, field: string, { sizeLimit }: EmptyDirVolumeSource): void {
  if (sizeLimit !== undefined && compareQuantityTexts(sizeLimit, '0') < 0) {
    errors.forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
  }
}

function checkClaim(
  errors: FieldErrors,
  field: string,
  { claimName }: PersistentVolumeClaimVolumeSource,
): void {
  if (claimName === '') errors.required(`${field}.claimName`);
}

const checkEphemeral: SourceRule['check'] = (errors, at, { ephemeral, name }, { meta }) => {
  const field = `${at}.ephemeral.volumeClaimTemplate`;
  if (!ephemeral?.volumeClaimTemplate) errors.required(field);
  else checkClaimTemplate(errors, field, ephemeral.volumeClaimTemplate);
  if (!meta?.name || name === '') return;
  const claimName = `${meta.name}-${name}`;
  for (const problem of nameRules.dnsSubdomain(claimName, false)) {
    errors.invalid(`${at}.name`, name, `PVC name ${goQuoted(claimName)}: ${problem}`);
  }
};

const checkImage: SourceRule['check'] = (errors, at, { image }, { isPod }) => {
  if (isPod && !image?.reference) errors.required(`${at}.image.reference`);
  checkPullPolicy(errors, `${at}.image.pullPolicy`, image?.pullPolicy);
};

type SourceCheck<K extends SourceName> = (
  errors: FieldErrors,
  field: string,
  source: NonNullable<Volume[K]>,
) => void;

/**
 * A source with its rule. `field` is the name in error paths if it differs from the field name: an old mistake of
 * Kubernetes that clients may rely on.
 */
function rule<K extends SourceName>(name: K, check: SourceCheck<K>, field: string = name): SourceRule {
  return {
    name,
    check: (errors, at, volume) => {
      const source = volume[name];
      if (source !== undefined) check(errors, `${at}.${field}`, source);
    },
  };
}

/** Volume sources in Kubernetes' order, which determines which of two sources is reported as superfluous. */
const rules: readonly SourceRule[] = [
  rule('emptyDir', checkEmptyDir),
  rule('hostPath', checkHostPath),
  rule('gitRepo', checkGitRepo),
  rule('gcePersistentDisk', cloud.checkGceDisk, 'persistentDisk'),
  rule('awsElasticBlockStore', cloud.checkAwsDisk),
  rule('secret', checkSecret),
  rule('nfs', network.checkNfs),
  rule('iscsi', checkInlineIscsi),
  rule('glusterfs', network.checkGlusterfs),
  rule('flocker', network.checkFlocker),
  rule('persistentVolumeClaim', checkClaim),
  rule('rbd', network.checkRbd),
  rule('cinder', cloud.checkCinder),
  { ...rule('cephfs', network.checkCephFs), secondField: 'cephFS' },
  rule('quobyte', network.checkQuobyte),
  { ...rule('downwardAPI', checkDownwardApi), secondField: 'downwarAPI' },
  rule('fc', network.checkFibreChannel),
  rule('flexVolume', checkFlexVolume),
  rule('configMap', checkConfigMap),
  rule('azureFile', cloud.checkAzureFile),
  rule('vsphereVolume', cloud.checkVsphere),
  rule('photonPersistentDisk', cloud.checkPhotonDisk),
  rule('portworxVolume', cloud.checkPortworx),
  rule('azureDisk', cloud.checkAzureDisk),
  rule('storageos', network.checkStorageOs),
  rule('projected', checkProjected),
  rule('scaleIO', cloud.checkScaleIo),
  rule('csi', checkInlineCsi),
  { name: 'ephemeral', check: checkEphemeral },
  { name: 'image', check: checkImage },
];
