import type {
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { isHugePages } from '../resources/resource-names.ts';

/** The scopes say which objects a quota applies to. */
export function checkScopes(spec: ResourceQuotaSpec, errors: FieldErrors): void {
  const { scopes = [] } = spec;
  const field = 'spec.scopes';
  for (const scope of scopes) {
    if (!knownScopes.includes(scope)) errors.invalid(field, scopes, 'unsupported scope');
    checkScopedResources(spec, scope, () => errors.invalid(field, scopes, wrongResource));
  }
  checkConflicts(new Set(scopes), () => errors.invalid(field, scopes, 'conflicting scopes'));
}

export function checkScopeSelector(spec: ResourceQuotaSpec, errors: FieldErrors): void {
  if (!spec.scopeSelector) return;
  const requirements = spec.scopeSelector.matchExpressions ?? [];
  const field = 'spec.scopeSelector.matchExpressions';
  for (const requirement of requirements) {
    const { scopeName } = requirement;
    if (!knownScopes.includes(scopeName))
      errors.invalid(`${field}.scopeName`, scopeName, 'unsupported scope');
    checkScopedResources(spec, scopeName, () =>
      errors.invalid(field, shownSelector(requirements), wrongResource),
    );
    if (plainScopes.includes(scopeName) && requirement.operator !== 'Exists') {
      errors.invalid(`${field}.operator`, requirement.operator, existsMessage);
    }
    checkValues(requirement, field, errors);
  }
  const names = new Set(requirements.map(({ scopeName }) => scopeName));
  checkConflicts(names, () => errors.invalid(field, spec.scopes, 'conflicting scopes'));
}

/** Whether quotas support a resource without a slash. Quotas count resources with a slash by name. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
}

const wrongResource = 'unsupported scope applied to resource';
const existsMessage =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** The scopes without values. */
const plainScopes: readonly string[] = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];
const knownScopes: readonly string[] = [...plainScopes, 'PriorityClass', 'VolumeAttributesClass'];

const computeResources = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

const quotaResources: ReadonlySet<string> = new Set([
  ...computeResources,
  ...['', 'requests.', 'limits.'].map((prefix) => `${prefix}ephemeral-storage`),
  'requests.storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Calls `onWrong` for every resource that the scope does not apply to. */
function checkScopedResources(spec: ResourceQuotaSpec, scope: string, onWrong: () => void): void {
  for (const name of Object.keys(spec.hard ?? {}).sort()) {
    if (isQuotaResource(name) && !isInScope(scope, name)) onWrong();
  }
}

function isInScope(scope: string, name: string): boolean {
  if (!knownScopes.includes(scope)) return true;
  if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(name);
  return name === 'pods' || (scope !== 'BestEffort' && computeResources.includes(name));
}

function checkConflicts(scopes: ReadonlySet<string>, onConflict: () => void): void {
  if (scopes.has('BestEffort') && scopes.has('NotBestEffort')) onConflict();
  if (scopes.has('Terminating') && scopes.has('NotTerminating')) onConflict();
}

function checkValues(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  field: string,
  errors: FieldErrors,
): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return;
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    errors.required(`${field}.values`, detail);
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return;
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    errors.invalid(`${field}.values`, values, detail);
  } else errors.invalid(`${field}.operator`, operator, 'not a valid selector operator');
}

/** The selector as kube-apiserver prints it in errors: with Go field names. */
function shownSelector(requirements: readonly ScopedResourceSelectorRequirement[]): object {
  return {
    MatchExpressions: requirements.map(({ scopeName, operator, values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  };
}
