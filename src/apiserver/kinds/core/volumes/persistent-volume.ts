import type { PersistentVolume, PersistentVolumeSpec } from '../../../../kube/api/stored/core.ts';
import { formatTimestamp } from '../../../../kube/go/timestamp.ts';
import { annotations } from '../../../../kube/well-known.ts';
import { nodeSelectorTermWarnings } from '../../../validation/deprecated-node-labels.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules } from '../../../validation/names.ts';
import type { Moment, RowContext, ServedKind, TableCell } from '../../served-kind.ts';
import { accessModesCell, age, ageColumn, nameColumn, unsetCell } from '../../table-cells.ts';
import { classNameOf } from './storage-class-name.ts';
import { defaultVolumeSpec } from './volume-source-defaults.ts';
import { checkVolumeSpec } from './volume-spec-rules.ts';
import { checkVolumeSpecUpdate, hasInvalidAffinityValue } from './volume-update-rules.ts';

export const persistentVolumeKind: ServedKind<PersistentVolume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  namespaced: false,
  type: 'core/v1.PersistentVolume',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: true,
  hasGeneration: false,

  defaults: ({ spec, status }) => {
    status.phase ||= 'Pending';
    spec.persistentVolumeReclaimPolicy ||= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    defaultVolumeSpec(spec);
  },
  prepareCreate: (volume, { nowMs }) => {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTimestamp(nowMs) };
  },
  prepareUpdate: (volume, old) => {
    volume.status = old.status;
  },
  prepareStatus,
  validate: (volume, errors) => checkVolume(volume, errors, false),
  validateUpdate: (volume, old, errors) => {
    checkVolume(volume, errors, hasInvalidAffinityValue(old.spec.nodeAffinity));
    checkVolumeSpecUpdate(errors, volume.spec, old.spec);
  },
  warnings,

  columns: [
    nameColumn,
    { name: 'Capacity', type: 'string' },
    { name: 'Access Modes', type: 'string' },
    { name: 'Reclaim Policy', type: 'string' },
    { name: 'Status', type: 'string' },
    { name: 'Claim', type: 'string' },
    { name: 'StorageClass', type: 'string' },
    { name: 'VolumeAttributesClass', type: 'string' },
    { name: 'Reason', type: 'string' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1 },
  ],
  row,
};

/** The mount options of a volume, before they were a field. */
const mountOptionsAnnotation = 'volume.beta.kubernetes.io/mount-options';

/** The volume types whose mount options may be in the annotation; all others have only the field. */
const annotatedMountSources = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const satisfies readonly (keyof PersistentVolumeSpec)[];

/**
 * Keeps the spec, and sets the phase transition time unless the writer does. A write to /status may also change
 * metadata.
 */
function prepareStatus(volume: PersistentVolume, old: PersistentVolume, { nowMs }: Moment): void {
  volume.spec = old.spec;
  const { status } = volume;
  const oldTime = old.status.lastPhaseTransitionTime;
  if (status.phase === old.status.phase) {
    if (oldTime !== undefined) status.lastPhaseTransitionTime ??= oldTime;
  } else if (status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === oldTime) {
    status.lastPhaseTransitionTime = formatTimestamp(nowMs);
  }
}

function checkVolume(volume: PersistentVolume, errors: FieldErrors, allowsAnyAffinityValue: boolean): void {
  const { metadata, spec } = volume;
  checkVolumeSpec(errors, 'spec', spec, { volumeName: metadata.name ?? '', allowsAnyAffinityValue });
  if (metadata.annotations?.[mountOptionsAnnotation] === undefined) return;
  if (annotatedMountSources.some((key) => spec[key] !== undefined)) return;
  const field = `metadata.annotations.${mountOptionsAnnotation}`;
  errors.forbidden(field, 'may not specify mount options for this volume type');
}

const deprecatedAnnotations = [
  [annotations.betaStorageClass, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [mountOptionsAnnotation, 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const;

const deprecatedSources = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const satisfies readonly (readonly [keyof PersistentVolumeSpec, string, string])[];

function warnings({ metadata, spec }: PersistentVolume): readonly string[] {
  const texts: string[] = [];
  for (const [key, warning] of deprecatedAnnotations) {
    if (metadata.annotations?.[key] !== undefined) texts.push(`metadata.annotations[${key}]: ${warning}`);
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    texts.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  spec.nodeAffinity?.required?.nodeSelectorTerms?.forEach((term, index) => {
    const field = `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`;
    texts.push(...nodeSelectorTermWarnings(field, term));
  });
  for (const [key, name, warning] of deprecatedSources) {
    if (spec[key] !== undefined) texts.push(`spec.${name}: ${warning}`);
  }
  return texts;
}

function row(volume: PersistentVolume, context: RowContext): readonly TableCell[] {
  const { metadata, spec, status } = volume;
  const claim = spec.claimRef;
  return [
    metadata.name ?? '',
    spec.capacity?.storage ?? '0',
    accessModesCell(spec.accessModes),
    spec.persistentVolumeReclaimPolicy ?? '',
    metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`,
    classNameOf(metadata, spec.storageClassName),
    spec.volumeAttributesClassName ?? unsetCell,
    status.reason ?? '',
    age(volume, context),
    spec.volumeMode ?? unsetCell,
  ];
}
