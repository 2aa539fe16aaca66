import type { Volume } from '../../schema/generated/core-v1.ts';
import type { ObjectMeta } from '../../schema/generated/meta-v1.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { goQuoted } from '../../validation/go-text.ts';
import { dnsLabelProblems, nameRules } from '../../validation/names.ts';
import { compareQuantityTexts } from '../../validation/quantities.ts';
import { checkClaimTemplate } from './claim-template-validation.ts';
import { checkPullPolicy } from './pod-spec-validation-container.ts';
import {
  checkConfigMap,
  checkDownwardApi,
  checkProjected,
  checkSecret,
} from './pod-spec-validation-projections.ts';
import * as sources from './pod-spec-validation-volume-sources.ts';

export interface VolumeContext {
  readonly isPod: boolean;
  readonly meta?: ObjectMeta;
}

/** The volumes that are in order, by name: those that containers may mount. */
export function checkVolumes(
  errors: FieldErrors,
  field: string,
  volumes: readonly Volume[],
  context: VolumeContext,
): ReadonlyMap<string, Volume> {
  const sound = new Map<string, Volume>();
  const created = claimsToCreate(volumes, context.meta?.name);
  volumes.forEach((volume, index) => {
    const at = `${field}[${index}]`;
    const before = errors.count;
    checkSource(errors, at, volume, context);
    if (volume.name === '') errors.required(`${at}.name`);
    else errors.invalidFor(`${at}.name`, volume.name, dnsLabelProblems(volume.name));
    if (sound.has(volume.name)) errors.duplicate(`${at}.name`, volume.name);
    if (errors.count === before) sound.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && created.has(claimName)) {
      const sentence = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.invalid(`${at}.persistentVolumeClaim.claimName`, claimName, sentence);
    }
  });
  return sound;
}

/** The claims that will be made for the pod; none are known where its name is not. */
function claimsToCreate(volumes: readonly Volume[], podName = ''): ReadonlySet<string> {
  const ephemeral = podName === '' ? [] : volumes.filter((volume) => volume.ephemeral);
  return new Set(ephemeral.map(({ name }) => `${podName}-${name}`));
}

type SourceCheck = (errors: FieldErrors, field: string, volume: Volume, context: VolumeContext) => void;

interface SourceRule {
  readonly name: Exclude<keyof Volume, 'name'>;
  readonly check: SourceCheck;
  /** Where errors are told, if not by the name: old slips that clients may rely on. */
  readonly field?: string;
  readonly secondField?: string;
}

function checkSource(errors: FieldErrors, at: string, volume: Volume, context: VolumeContext): void {
  let hasOne = false;
  for (const { name, check, field = name, secondField = name } of rules) {
    if (volume[name] === undefined) continue;
    if (hasOne) errors.forbidden(`${at}.${secondField}`, 'may not specify more than 1 volume type');
    else check(errors, `${at}.${field}`, volume, context);
    hasOne = true;
    if (name === 'iscsi') sources.checkInitiatorLength(errors, `${at}.name`, volume);
  }
  if (!hasOne) errors.required(at, 'must specify a volume type');
}

const checkEmptyDir: SourceCheck = (errors, field, { emptyDir }) => {
  if (emptyDir?.sizeLimit !== undefined && compareQuantityTexts(emptyDir.sizeLimit, '0') < 0) {
    errors.forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
  }
};

const checkClaim: SourceCheck = (errors, field, { persistentVolumeClaim: claim }) => {
  if (claim?.claimName === '') errors.required(`${field}.claimName`);
};

const checkEphemeral: SourceCheck = (errors, field, { ephemeral, name }, { meta }) => {
  if (!ephemeral?.volumeClaimTemplate) errors.required(`${field}.volumeClaimTemplate`);
  else checkClaimTemplate(errors, `${field}.volumeClaimTemplate`, ephemeral.volumeClaimTemplate);
  if (!meta?.name || name === '') return;
  const claimName = `${meta.name}-${name}`;
  const namePath = `${field.slice(0, field.lastIndexOf('.'))}.name`;
  for (const problem of nameRules.dnsSubdomain(claimName, false)) {
    errors.invalid(namePath, name, `PVC name ${goQuoted(claimName)}: ${problem}`);
  }
};

const checkImage: SourceCheck = (errors, field, { image }, { isPod }) => {
  if (isPod && !image?.reference) errors.required(`${field}.reference`);
  checkPullPolicy(errors, `${field}.pullPolicy`, image?.pullPolicy);
};

/** In the order in which Kubernetes looks for them: it tells which of two is the one too many. */
const rules: readonly SourceRule[] = [
  { name: 'emptyDir', check: checkEmptyDir },
  { name: 'hostPath', check: sources.checkHostPath },
  { name: 'gitRepo', check: sources.checkGitRepo },
  { name: 'gcePersistentDisk', check: sources.checkGceDisk, field: 'persistentDisk' },
  { name: 'awsElasticBlockStore', check: sources.checkAwsDisk },
  { name: 'secret', check: checkSecret },
  { name: 'nfs', check: sources.checkNfs },
  { name: 'iscsi', check: sources.checkIscsi },
  { name: 'glusterfs', check: sources.checkGlusterfs },
  { name: 'flocker', check: sources.checkFlocker },
  { name: 'persistentVolumeClaim', check: checkClaim },
  { name: 'rbd', check: sources.checkRbd },
  { name: 'cinder', check: sources.checkCinder },
  { name: 'cephfs', check: sources.checkCephfs, secondField: 'cephFS' },
  { name: 'quobyte', check: sources.checkQuobyte },
  { name: 'downwardAPI', check: checkDownwardApi, secondField: 'downwarAPI' },
  { name: 'fc', check: sources.checkFibreChannel },
  { name: 'flexVolume', check: sources.checkFlexVolume },
  { name: 'configMap', check: checkConfigMap },
  { name: 'azureFile', check: sources.checkAzureFile },
  { name: 'vsphereVolume', check: sources.checkVsphere },
  { name: 'photonPersistentDisk', check: sources.checkPhotonDisk },
  { name: 'portworxVolume', check: sources.checkPortworx },
  { name: 'azureDisk', check: sources.checkAzureDisk },
  { name: 'storageos', check: sources.checkStorageos },
  { name: 'projected', check: checkProjected },
  { name: 'scaleIO', check: sources.checkScaleio },
  { name: 'csi', check: sources.checkCsi },
  { name: 'ephemeral', check: checkEphemeral },
  { name: 'image', check: checkImage },
];
