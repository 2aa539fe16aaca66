import type {
  DeviceClaim,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimTemplate,
} from '../../../kube/api/stored/resource.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const resourceClaimKind: ServedKind<ResourceClaim> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  singular: 'resourceclaim',
  namespaced: true,
  type: 'resource.k8s.io/v1.ResourceClaim',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: false,
  returnsDeletedObject: true,

  defaults: ({ spec }) => defaultClaim(spec.devices),
  prepareCreate(claim) {
    claim.status = {};
  },
  prepareUpdate(claim, old) {
    claim.status = old.status;
  },
  prepareStatus(claim, old) {
    claim.spec = old.spec;
    const { resourceVersion, managedFields } = claim.metadata;
    claim.metadata = { ...old.metadata, resourceVersion, managedFields };
  },
  validate() {},
  validateUpdate: (claim, old, errors) => checkImmutable(errors, 'spec', claim.spec, old.spec),

  columns: [nameColumn, { name: 'State', type: 'string' }, ageColumn],
  row: (claim, context) => [claim.metadata.name ?? '', stateCell(claim), age(claim, context)],
};

export const resourceClaimTemplateKind: ServedKind<ResourceClaimTemplate> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  singular: 'resourceclaimtemplate',
  namespaced: true,
  type: 'resource.k8s.io/v1.ResourceClaimTemplate',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,
  returnsDeletedObject: true,

  defaults: ({ spec }) => defaultClaim(spec.spec.devices),
  validate() {},
  validateUpdate: (template, old, errors) => checkImmutable(errors, 'spec', template.spec, old.spec),

  columns: [nameColumn, ageColumn],
  row: (template, context) => [template.metadata.name ?? '', age(template, context)],
};

function defaultClaim({ requests }: DeviceClaim): void {
  for (const { exactly, firstAvailable } of requests ?? []) {
    if (exactly) defaultRequest(exactly);
    for (const request of firstAvailable ?? []) defaultRequest(request);
  }
}

function defaultRequest(request: ExactDeviceRequest | DeviceSubRequest): void {
  request.allocationMode ||= 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

function stateCell({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (status.allocation) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []));
  else if (!isDeleted) states.push('pending');
  return states.join(',');
}
