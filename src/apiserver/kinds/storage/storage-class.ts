import type { ObjectMeta } from '../../../kube/api/stored/meta.ts';
import type { StorageClass } from '../../../kube/api/stored/storage.ts';
import { withSortedKeys } from '../../../kube/sorted-keys.ts';
import { annotations } from '../../../kube/well-known.ts';
import { topologyWarnings } from '../../validation/deprecated-node-labels.ts';
import { checkSupported } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import { checkTopologySelectorTerms } from '../../validation/selectors.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';
import { checkParameters, checkProvisioner } from './class-parameters.ts';

export const storageClassKind: ServedKind<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  namespaced: false,
  type: 'storage.k8s.io/v1.StorageClass',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: false,
  hasGeneration: false,

  defaults: (storageClass) => {
    storageClass.reclaimPolicy ??= 'Delete';
    storageClass.volumeBindingMode ??= 'Immediate';
  },
  validate: checkStorageClass,
  validateUpdate: (storageClass, old, errors) => {
    checkStorageClass(storageClass, errors);
    checkImmutable(
      errors,
      'parameters',
      storageClass.parameters && withSortedKeys(storageClass.parameters),
      old.parameters,
    );
    checkImmutable(errors, 'provisioner', storageClass.provisioner, old.provisioner);
    checkImmutable(errors, 'reclaimPolicy', storageClass.reclaimPolicy, old.reclaimPolicy);
    checkImmutable(errors, 'volumeBindingMode', storageClass.volumeBindingMode, old.volumeBindingMode);
  },
  warnings: ({ allowedTopologies }) => topologyWarnings('allowedTopologies', allowedTopologies),

  columns: [
    nameColumn,
    { name: 'Provisioner', type: 'string' },
    { name: 'ReclaimPolicy', type: 'string' },
    { name: 'VolumeBindingMode', type: 'string' },
    { name: 'AllowVolumeExpansion', type: 'string' },
    ageColumn,
  ],
  row: (storageClass, context) => [
    `${storageClass.metadata.name ?? ''}${isDefaultClass(storageClass.metadata) ? ' (default)' : ''}`,
    storageClass.provisioner,
    storageClass.reclaimPolicy ?? 'Delete',
    storageClass.volumeBindingMode ?? 'Immediate',
    storageClass.allowVolumeExpansion ?? false,
    age(storageClass, context),
  ],
};

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

function checkStorageClass(storageClass: StorageClass, errors: FieldErrors): void {
  const { reclaimPolicy = '', volumeBindingMode } = storageClass;
  checkProvisioner(errors, 'provisioner', storageClass.provisioner);
  checkParameters(errors, 'parameters', storageClass.parameters);
  if (reclaimPolicy !== '') checkSupported(errors, 'reclaimPolicy', reclaimPolicy, reclaimPolicies);
  if (volumeBindingMode === undefined) errors.required('volumeBindingMode');
  else checkSupported(errors, 'volumeBindingMode', volumeBindingMode, bindingModes);
  checkTopologySelectorTerms(errors, 'allowedTopologies', storageClass.allowedTopologies);
}

function isDefaultClass(metadata: ObjectMeta): boolean {
  return (
    metadata.annotations?.[annotations.isDefaultClass] === 'true' ||
    metadata.annotations?.[annotations.betaIsDefaultClass] === 'true'
  );
}
