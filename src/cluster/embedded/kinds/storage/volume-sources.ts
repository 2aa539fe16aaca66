import type { PersistentVolumeSource, PersistentVolumeSpec } from '../../schema/generated/core-v1.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import {
  checkAzureDisk,
  checkAzureFile,
  checkCinder,
  checkDisk,
  checkPhotonDisk,
  checkPortworx,
  checkScaleIO,
  checkVsphere,
} from './cloud-source-rules.ts';
import {
  checkCephFs,
  checkFibreChannel,
  checkFlocker,
  checkGlusterfs,
  checkIscsi,
  checkNfs,
  checkQuobyte,
  checkRbd,
  checkStorageOs,
} from './network-source-rules.ts';
import { checkCsi, checkFlexVolume, checkHostPath, checkLocal } from './node-source-rules.ts';

/** Which volume types a spec may name: exactly one of them. The order is that in which Kubernetes looks. */
export function checkVolumeSource(
  errors: FieldErrors,
  field: string,
  spec: PersistentVolumeSpec,
  owner: SourceOwner,
): void {
  let count = 0;
  for (const { key, check, fieldWhenSecond = key, mayBeSecond = false } of sourceRules) {
    if (spec[key] === undefined) continue;
    if (count > 0 && !mayBeSecond) {
      errors.forbidden(`${field}.${fieldWhenSecond}`, 'may not specify more than 1 volume type');
      continue;
    }
    count += 1;
    check(errors, field, spec, owner);
  }
  if (count === 0) errors.required(field, 'must specify a volume type');
}

/** Only the source of a spec, for comparing it. */
export function sourceOf(spec: PersistentVolumeSpec): PersistentVolumeSource {
  return Object.fromEntries(sourceRules.map(({ key }) => [key, spec[key]]));
}

export interface SourceOwner {
  /** Of the volume; empty for a volume that is written inline. */
  readonly name: string;
}

type SourceKey = keyof PersistentVolumeSource;

interface SourceRule {
  readonly key: SourceKey;
  readonly fieldWhenSecond?: string;
  /** Kubernetes forgot to look for others before this one. */
  readonly mayBeSecond?: boolean;
  check(errors: FieldErrors, field: string, spec: PersistentVolumeSpec, owner: SourceOwner): void;
}

type SourceCheck<K extends SourceKey> = (
  errors: FieldErrors,
  field: string,
  source: NonNullable<PersistentVolumeSource[K]>,
  owner: SourceOwner,
) => void;

/** `field` is what errors call the source, where that is not the field's own name. */
function rule<K extends SourceKey>(key: K, check: SourceCheck<K>, field: string = key): SourceRule {
  return {
    key,
    check: (errors, parent, spec, owner) => {
      const source = spec[key];
      if (source !== undefined) check(errors, `${parent}.${field}`, source, owner);
    },
  };
}

const sourceRules: readonly SourceRule[] = [
  rule('hostPath', checkHostPath),
  rule(
    'gcePersistentDisk',
    (errors, field, disk) => checkDisk(errors, field, 'pdName', disk),
    'persistentDisk',
  ),
  rule('awsElasticBlockStore', (errors, field, disk) => checkDisk(errors, field, 'volumeID', disk)),
  rule('glusterfs', checkGlusterfs),
  rule('flocker', checkFlocker),
  rule('nfs', checkNfs),
  rule('rbd', checkRbd),
  rule('quobyte', checkQuobyte),
  { ...rule('cephfs', checkCephFs), fieldWhenSecond: 'cephFS' },
  rule('iscsi', (errors, field, source, owner) => checkIscsi(errors, field, source, owner.name)),
  rule('cinder', checkCinder),
  rule('fc', checkFibreChannel),
  { ...rule('flexVolume', checkFlexVolume), mayBeSecond: true },
  rule('azureFile', checkAzureFile),
  rule('vsphereVolume', checkVsphere),
  rule('photonPersistentDisk', checkPhotonDisk),
  rule('portworxVolume', checkPortworx),
  rule('azureDisk', checkAzureDisk),
  rule('scaleIO', checkScaleIO),
  {
    key: 'local',
    check: (errors, field, { local, nodeAffinity }) => {
      if (local !== undefined) checkLocal(errors, `${field}.local`, local);
      if (nodeAffinity === undefined) {
        errors.required(`${field}.nodeAffinity`, 'Local volume requires node affinity');
      }
    },
  },
  rule('storageos', checkStorageOs),
  rule('csi', checkCsi),
];
