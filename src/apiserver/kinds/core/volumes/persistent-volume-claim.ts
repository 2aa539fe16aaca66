import type { PersistentVolumeClaim } from '../../../../kube/api/stored/core.ts';
import { annotations } from '../../../../kube/well-known.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules } from '../../../validation/names.ts';
import { checkLabelSelector } from '../../../validation/selectors.ts';
import type { RowContext, ServedKind, TableCell } from '../../served-kind.ts';
import { accessModesCell, age, ageColumn, nameColumn, unsetCell } from '../../table-cells.ts';
import { roundToMilli } from '../resources/resource-list.ts';
import { normalizeDataSources } from './claim-data-source.ts';
import {
  type ClaimSpecOptions,
  checkClaimSpec,
  claimSpecWarnings,
  defaultClaimSpec,
} from './claim-spec-rules.ts';
import { checkClaimStatus } from './claim-status-rules.ts';
import { checkClaimUpdate } from './claim-update-rules.ts';
import { betaClassOf, classNameOf } from './storage-class-name.ts';

export const persistentVolumeClaimKind: ServedKind<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  namespaced: true,
  type: 'core/v1.PersistentVolumeClaim',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: true,
  hasGeneration: false,

  defaults: ({ spec, status }) => {
    status.phase ||= 'Pending';
    defaultClaimSpec(spec);
    roundToMilli(status.capacity);
    roundToMilli(status.allocatedResources);
  },
  prepareCreate: (claim) => {
    claim.status = { phase: 'Pending' };
    normalizeDataSources(claim.spec, undefined);
  },
  prepareUpdate: (claim, old) => {
    claim.status = old.status;
    normalizeDataSources(claim.spec, old.spec);
  },
  /** A write to /status may also change metadata. */
  prepareStatus: (claim, old) => {
    claim.spec = old.spec;
  },
  validate: (claim, errors) => checkClaimSpec(errors, 'spec', claim.spec),
  validateUpdate: (claim, old, errors) => {
    checkClaimSpec(errors, 'spec', claim.spec, optionsAfter(old));
    checkClaimUpdate(errors, claim, old);
  },
  validateStatus: (claim, _old, errors) => checkClaimStatus(errors, claim),
  warnings,

  columns: [
    nameColumn,
    { name: 'Status', type: 'string' },
    { name: 'Volume', type: 'string' },
    { name: 'Capacity', type: 'string' },
    { name: 'Access Modes', type: 'string' },
    { name: 'StorageClass', type: 'string' },
    { name: 'VolumeAttributesClass', type: 'string' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1 },
  ],
  row,
};

/** Claims that were stored under older, laxer rules stay updatable. */
function optionsAfter({ spec }: PersistentVolumeClaim): ClaimSpecOptions {
  const selectorErrors = new FieldErrors();
  checkLabelSelector(selectorErrors, '', spec.selector);
  return {
    allowsAnySelectorValue: !selectorErrors.isEmpty,
    allowsAnyDataSourceGroup:
      typeof spec.dataSource?.apiGroup === 'string' || typeof spec.dataSourceRef?.apiGroup === 'string',
  };
}

function warnings({ metadata, spec }: PersistentVolumeClaim): readonly string[] {
  const specWarnings = claimSpecWarnings('spec', spec);
  if (betaClassOf(metadata) === undefined) return specWarnings;
  const field = `metadata.annotations[${annotations.betaStorageClass}]`;
  return [`${field}: deprecated since v1.8; use "storageClassName" attribute instead`, ...specWarnings];
}

function row(claim: PersistentVolumeClaim, context: RowContext): readonly TableCell[] {
  const { metadata, spec, status } = claim;
  const { volumeName = '' } = spec;
  const isBound = volumeName !== '';
  return [
    metadata.name ?? '',
    metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    volumeName,
    isBound ? (status.capacity?.storage ?? '0') : '',
    isBound ? accessModesCell(status.accessModes) : '',
    classNameOf(metadata, spec.storageClassName),
    spec.volumeAttributesClassName ?? unsetCell,
    age(claim, context),
    spec.volumeMode ?? unsetCell,
  ];
}
