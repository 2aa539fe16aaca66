import type { VolumeAttributesClass } from '../../../kube/api/stored/storage.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { nameRules } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';
import { checkParameters, checkProvisioner } from './class-parameters.ts';

export const volumeAttributesClassKind: ServedKind<VolumeAttributesClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  namespaced: false,
  type: 'storage.k8s.io/v1.VolumeAttributesClass',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: false,
  hasGeneration: false,

  validate: checkAttributesClass,
  validateUpdate: (attributesClass, old, errors) => {
    if (attributesClass.driverName !== old.driverName) {
      errors.forbidden('driverName', 'updates to driverName are forbidden.');
    }
    if (!isSemanticallyEqual(attributesClass.parameters, old.parameters)) {
      errors.forbidden('parameters', 'updates to parameters are forbidden.');
    }
    checkAttributesClass(attributesClass, errors);
  },

  columns: [nameColumn, { name: 'DriverName', type: 'string' }, ageColumn],
  row: (attributesClass, context) => [
    attributesClass.metadata.name ?? '',
    attributesClass.driverName,
    age(attributesClass, context),
  ],
};

/** Parameters are required: a class without them would change nothing. */
function checkAttributesClass({ driverName, parameters }: VolumeAttributesClass, errors: FieldErrors): void {
  checkProvisioner(errors, 'driverName', driverName);
  checkParameters(errors, 'parameters', parameters);
  if (Object.keys(parameters ?? {}).length === 0) {
    errors.required('parameters', 'must contain at least one key/value pair');
  }
}
