import type { CSIStorageCapacity } from '../../../kube/api/stored/storage.ts';
import { labelSelectorWarnings } from '../../validation/deprecated-node-labels.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegativeQuantity } from '../../validation/quantities.ts';
import { checkLabelSelector } from '../../validation/selectors.ts';
import { checkClassName } from '../core/volumes/volume-spec-rules.ts';
import type { ServedKind } from '../served-kind.ts';
import { nameColumn } from '../table-cells.ts';

export const csiStorageCapacityKind: ServedKind<CSIStorageCapacity> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  namespaced: true,
  type: 'storage.k8s.io/v1.CSIStorageCapacity',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,
  requiresResourceVersion: true,

  validate: (capacity, errors) => checkCapacity(capacity, errors, false),
  validateUpdate: (capacity, old, errors) => {
    checkCapacity(capacity, errors, hasInvalidTopology(old));
    checkImmutable(errors, 'nodeTopology', capacity.nodeTopology, old.nodeTopology);
    checkImmutable(errors, 'storageClassName', capacity.storageClassName, old.storageClassName);
  },
  warnings: ({ nodeTopology }) => labelSelectorWarnings('nodeTopology', nodeTopology),

  /** The default columns of kinds without their own printer in Kubernetes. */
  columns: [nameColumn, { name: 'Created At', type: 'date' }],
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

function checkCapacity(object: CSIStorageCapacity, errors: FieldErrors, allowsAnyValue: boolean): void {
  checkLabelSelector(errors, 'nodeTopology', object.nodeTopology, { allowsAnyValue });
  checkClassName(errors, 'storageClassName', object.storageClassName);
  if (object.capacity !== undefined) checkNonNegativeQuantity(errors, 'capacity', object.capacity);
}

function hasInvalidTopology({ nodeTopology }: CSIStorageCapacity): boolean {
  const errors = new FieldErrors();
  checkLabelSelector(errors, '', nodeTopology);
  return !errors.isEmpty;
}
