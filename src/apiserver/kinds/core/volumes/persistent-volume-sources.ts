import type { PersistentVolumeSource, PersistentVolumeSpec } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import {
  checkLocal,
  checkPersistentAzureFile,
  checkPersistentCinder,
  checkPersistentCsi,
  checkPersistentGlusterfs,
  checkPersistentIscsi,
  checkPersistentStorageOs,
} from './persistent-volume-source-rules.ts';
import * as cloud from './sources/cloud-sources.ts';
import * as network from './sources/network-sources.ts';
import { checkFlexVolume, checkHostPath } from './sources/node-sources.ts';

/** A spec must have exactly one volume type. The rules are in Kubernetes' order. */
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

/** Only the source of a spec, for comparisons. */
export function sourceOf(spec: PersistentVolumeSpec): PersistentVolumeSource {
  return Object.fromEntries(sourceRules.map(({ key }) => [key, spec[key]]));
}

export interface SourceOwner {
  /** The name of the volume; empty for an inline volume. */
  readonly name: string;
}

type SourceKey = keyof PersistentVolumeSource;

interface SourceRule {
  readonly key: SourceKey;
  readonly fieldWhenSecond?: string;
  /** Kubernetes forgot to check for other sources before this one. */
  readonly mayBeSecond?: boolean;
  check(errors: FieldErrors, field: string, spec: PersistentVolumeSpec, owner: SourceOwner): void;
}

type SourceCheck<K extends SourceKey> = (
  errors: FieldErrors,
  field: string,
  source: NonNullable<PersistentVolumeSource[K]>,
  owner: SourceOwner,
) => void;

/** `field` is the name of the source in error paths if it differs from the field name. */
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
  rule('gcePersistentDisk', cloud.checkGceDisk, 'persistentDisk'),
  rule('awsElasticBlockStore', cloud.checkAwsDisk),
  rule('glusterfs', checkPersistentGlusterfs),
  rule('flocker', network.checkFlocker),
  rule('nfs', network.checkNfs),
  rule('rbd', network.checkRbd),
  rule('quobyte', network.checkQuobyte),
  { ...rule('cephfs', network.checkCephFs), fieldWhenSecond: 'cephFS' },
  rule('iscsi', (errors, field, source, owner) => checkPersistentIscsi(errors, field, source, owner.name)),
  rule('cinder', checkPersistentCinder),
  rule('fc', network.checkFibreChannel),
  { ...rule('flexVolume', checkFlexVolume), mayBeSecond: true },
  rule('azureFile', checkPersistentAzureFile),
  rule('vsphereVolume', cloud.checkVsphere),
  rule('photonPersistentDisk', cloud.checkPhotonDisk),
  rule('portworxVolume', cloud.checkPortworx),
  rule('azureDisk', cloud.checkAzureDisk),
  rule('scaleIO', cloud.checkScaleIo),
  {
    key: 'local',
    check: (errors, field, { local, nodeAffinity }) => {
      if (local !== undefined) checkLocal(errors, `${field}.local`, local);
      if (nodeAffinity === undefined) {
        errors.required(`${field}.nodeAffinity`, 'Local volume requires node affinity');
      }
    },
  },
  rule('storageos', checkPersistentStorageOs),
  rule('csi', checkPersistentCsi),
];
