import type { ResourceQuota, ResourceQuotaSpec } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { ownValue } from '../../../../kube/go/json-value.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { immutableMessage } from '../../../validation/immutable.ts';
import { nameRules } from '../../../validation/names.ts';
import { compareQuantityTexts } from '../../../validation/quantities.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn } from '../../table-cells.ts';
import { roundToMilli } from '../resources/resource-list.ts';
import { checkResourceName } from '../resources/resource-name-checks.ts';
import { checkResourceQuantity } from '../resources/resource-quantity.ts';
import { checkScopeSelector, checkScopes, isQuotaResource } from './resource-quota-scopes.ts';

export const resourceQuotaKind: ServedKind<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  namespaced: true,
  type: 'core/v1.ResourceQuota',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: false,
  returnsDeletedObject: true,

  defaults({ spec, status }) {
    roundToMilli(spec.hard);
    roundToMilli(status.hard);
    roundToMilli(status.used);
  },
  prepareCreate(quota) {
    quota.status = {};
  },
  prepareUpdate(quota, old) {
    quota.status = old.status;
  },
  validate: ({ spec }, errors) => checkSpec(spec, errors),
  validateUpdate({ spec }, old, errors) {
    checkSpec(spec, errors);
    if (!sameScopes(spec, old.spec)) {
      errors.invalid('spec.scopes', spec.scopes, immutableMessage);
    }
  },
  validateStatus({ status }, _old, errors) {
    checkAmounts(errors, 'status.hard', status.hard);
    checkAmounts(errors, 'status.used', status.used);
  },
  warnings: ({ spec }, old) => (old ? [] : limitWarnings(spec.hard ?? {})),

  columns: [nameColumn, { name: 'Request', type: 'string' }, { name: 'Limit', type: 'string' }, ageColumn],
  row(quota, context) {
    return [
      quota.metadata.name ?? '',
      usageCell(quota, (name) => !name.startsWith('limits.')),
      usageCell(quota, (name) => name.startsWith('limits.')),
      age(quota, context),
    ];
  },
};

type Amounts = Readonly<Record<string, string>>;

function sameScopes(spec: ResourceQuotaSpec, old: ResourceQuotaSpec): boolean {
  const sorted = ({ scopes }: ResourceQuotaSpec) => [...new Set(scopes)].sort();
  return isSemanticallyEqual(sorted(spec), sorted(old));
}

/** For example `cpu: 1/2, pods: 3/4`. */
function usageCell({ status }: ResourceQuota, isShown: (name: string) => boolean): string {
  const names = Object.keys(status.hard ?? {})
    .filter(isShown)
    .sort();
  return names
    .map((name) => `${name}: ${ownValue(status.used, name) ?? '0'}/${status.hard?.[name]}`)
    .join(', ');
}

function checkSpec(spec: ResourceQuotaSpec, errors: FieldErrors): void {
  checkAmounts(errors, 'spec.hard', spec.hard);
  checkScopes(spec, errors);
  checkScopeSelector(spec, errors);
}

function checkAmounts(errors: FieldErrors, field: string, amounts: Amounts | undefined): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    const at = `${field}[${name}]`;
    checkResourceName(errors, at, name);
    if (!name.includes('/') && !isQuotaResource(name)) {
      errors.invalid(at, name, 'must be a standard resource for quota');
    }
    checkResourceQuantity(errors, at, name, amount);
  }
}

function limitWarnings(hard: Amounts): readonly string[] {
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const hasShortName = name === 'cpu' || name === 'memory';
    const requestName = hard[`requests.${name}`] === undefined && hasShortName ? name : `requests.${name}`;
    const [request, limit] = [hard[requestName], hard[`limits.${name}`]];
    if (request === undefined || limit === undefined || compareQuantityTexts(request, limit) <= 0) return [];
    return [`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`];
  });
}
