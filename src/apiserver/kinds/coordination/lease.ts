import type { Lease, LeaseSpec } from '../../../kube/api/stored/coordination.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const leaseKind: ServedKind<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  namespaced: true,
  type: 'coordination.k8s.io/v1.Lease',
  nameRule: nameRules.dnsSubdomain,
  allowsAnyFinalizer: true,
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,
  requiresResourceVersion: true,

  prepareCreate: ({ spec }) => dropCoordination(spec, {}),
  prepareUpdate: ({ spec }, old) => dropCoordination(spec, old.spec),
  validate: ({ spec }, errors) => checkSpec(spec, errors),
  validateUpdate: ({ spec }, _old, errors) => checkSpec(spec, errors),

  columns: [nameColumn, { name: 'Holder', type: 'string' }, ageColumn],
  row(lease, context) {
    return [lease.metadata.name ?? '', lease.spec.holderIdentity ?? '', age(lease, context)];
  },
};

/** The feature gate of coordinated leader election is off by default. */
function dropCoordination(spec: LeaseSpec, old: LeaseSpec): void {
  if (old.strategy === undefined) delete spec.strategy;
  if (old.preferredHolder === undefined) delete spec.preferredHolder;
}

function checkSpec(spec: LeaseSpec, errors: FieldErrors): void {
  const { leaseDurationSeconds } = spec;
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0');
  }
  checkNonNegative(errors, 'spec.leaseTransitions', spec.leaseTransitions ?? 0);
}
