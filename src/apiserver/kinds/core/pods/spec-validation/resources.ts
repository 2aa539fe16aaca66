import type {
  PodResourceClaim,
  PodSpec,
  ResourceClaim,
  ResourceRequirements,
} from '../../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../../kube/api/stored/meta.ts';
import { ownValue } from '../../../../../kube/go/json-value.ts';
import { formatQuantity, quantityToNano } from '../../../../../kube/quantities/quantity.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { internalForm } from '../../../../validation/internal-form.ts';
import { dnsLabelProblems, nameRules, qualifiedNameProblems } from '../../../../validation/names.ts';
import { compareQuantityTexts, quantityOf } from '../../../../validation/quantities.ts';
import type { MutableResourceList } from '../../resources/resource-list.ts';
import {
  isContainerResource,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  isOvercommittable,
  isPodLevelResource,
  isStandardResource,
  pageSizeOf,
  podLevelResources,
} from '../../resources/resource-names.ts';
import { checkResourceQuantity } from '../../resources/resource-quantity.ts';
import { mirrorAnnotation } from '../pod-annotations.ts';
import { containerTotals } from '../pod-resources.ts';

type NameCheck = (errors: FieldErrors, field: string, name: string) => void;

export function checkContainerResources(
  errors: FieldErrors,
  field: string,
  resources: ResourceRequirements | undefined,
  claimNames: ReadonlySet<string>,
): void {
  checkRequirements(errors, field, resources ?? {}, checkContainerResourceName);
  checkClaims(errors, `${field}.claims`, resources?.claims ?? [], claimNames);
}

/** The overhead of running the pod, in addition to its containers. */
export function checkOverhead(
  errors: FieldErrors,
  field: string,
  overhead: MutableResourceList | undefined,
): void {
  if (overhead) checkRequirements(errors, field, { limits: overhead }, checkContainerResourceName);
}

/** Pod-level resources, which apply to all containers together. */
export function checkPodResources(
  errors: FieldErrors,
  path: string,
  spec: PodSpec,
  claimNames: ReadonlySet<string>,
): void {
  const { resources } = spec;
  const field = `${path}.resources`;
  if (resources === undefined) return;
  if (spec.os?.name === 'windows') {
    errors.forbidden(field, 'may not be set for a windows pod');
    return;
  }
  if (resources.claims) {
    errors.forbidden(`${field}.claims`, 'claims may not be set for Resources at pod-level');
  }
  checkRequirements(errors, field, resources, checkPodResourceName);
  checkClaims(errors, `${field}.claims`, resources.claims ?? [], claimNames);
  checkTotals(errors, field, spec, resources);
}

export function checkResourceClaims(
  errors: FieldErrors,
  field: string,
  claims: readonly PodResourceClaim[],
  meta: ObjectMeta | undefined,
): void {
  const names = new Set<string>();
  claims.forEach((claim, index) => {
    if (meta?.annotations?.[mirrorAnnotation] !== undefined) {
      errors.forbidden('', 'static pods do not support resource claims');
      return;
    }
    checkResourceClaim(errors, `${field}[${index}]`, claim, names);
  });
}

function checkResourceClaim(
  errors: FieldErrors,
  at: string,
  claim: PodResourceClaim,
  names: Set<string>,
): void {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (name === '') errors.required(`${at}.name`);
  else if (names.has(name)) errors.duplicate(`${at}.name`, name);
  else errors.invalidFor(`${at}.name`, name, dnsLabelProblems(name));
  if (name !== '') names.add(name);
  const shown = internalForm(claim, ['name', 'resourceClaimName', 'resourceClaimTemplateName']);
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    errors.invalid(at, shown, detail);
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
    errors.invalid(at, shown, detail);
  }
  for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
    const value = claim[field];
    if (value !== undefined) errors.invalidFor(`${at}.${field}`, value, nameRules.dnsSubdomain(value, false));
  }
}

function checkRequirements(
  errors: FieldErrors,
  field: string,
  { limits = {}, requests = {} }: ResourceRequirements,
  checkName: NameCheck,
): void {
  for (const [name, amount] of Object.entries(limits)) {
    checkAmount(errors, `${field}.limits[${name}]`, name, { amount, checkName });
  }
  for (const [name, amount] of Object.entries(requests)) {
    checkName(errors, `${field}.requests[${name}]`, name);
    checkResourceQuantity(errors, `${field}.requests[${name}]`, name, amount);
    checkAgainstLimit(errors, field, name, { request: amount, limit: ownValue(limits, name) });
    checkPages(errors, `${field}.requests[${name}]`, name, amount);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.forbidden(field, 'HugePages require cpu or memory');
  }
}

function checkAmount(
  errors: FieldErrors,
  field: string,
  name: string,
  { amount, checkName }: { readonly amount: string; readonly checkName: NameCheck },
): void {
  checkName(errors, field, name);
  checkResourceQuantity(errors, field, name, amount);
  checkPages(errors, field, name, amount);
}

function checkAgainstLimit(
  errors: FieldErrors,
  field: string,
  name: string,
  { request, limit }: { readonly request: string; readonly limit: string | undefined },
): void {
  if (limit === undefined) {
    if (isOvercommittable(name)) return;
    errors.required(`${field}.limits`, 'Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantityTexts(request, limit);
  if (order !== 0 && !isOvercommittable(name)) {
    errors.invalid(`${field}.requests`, request, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) {
    errors.invalid(`${field}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function checkPages(errors: FieldErrors, field: string, name: string, amount: string): void {
  if (!isHugePages(name)) return;
  const pageNano = quantityToNano(quantityOf(pageSizeOf(name)));
  if (pageNano > 0n && quantityToNano(quantityOf(amount)) % pageNano === 0n) return;
  errors.invalid(field, amount, `${amount} is not positive integer multiple of ${name}`);
}

const checkAnyResourceName: NameCheck = (errors, field, name) => {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) errors.invalidFor(field, name, problems);
  else if (!name.includes('/') && !isStandardResource(name)) {
    errors.invalid(field, name, 'must be a standard resource type or fully qualified');
  }
};

const checkContainerResourceName: NameCheck = (errors, field, name) => {
  checkAnyResourceName(errors, field, name);
  if (!name.includes('/')) {
    if (!isContainerResource(name)) errors.invalid(field, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.invalid(field, name, "doesn't follow extended resource name standard");
  }
};

const checkPodResourceName: NameCheck = (errors, field, name) => {
  const before = errors.count;
  checkAnyResourceName(errors, field, name);
  if (errors.count === before && !isPodLevelResource(name)) {
    errors.notSupported(field, name, podLevelResources);
  }
};

function checkTotals(
  errors: FieldErrors,
  field: string,
  spec: PodSpec,
  { requests = {}, limits = {} }: ResourceRequirements,
): void {
  for (const [name, total] of containerTotals(spec, 'requests')) {
    const request = ownValue(requests, name);
    const text = formatQuantity(total);
    if (request === undefined || compareQuantityTexts(text, request) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${text}`;
    errors.invalid(`${field}.requests[${name}]`, request, detail);
  }
  for (const [name, total] of containerTotals(spec, 'limits')) {
    const limit = ownValue(limits, name);
    const text = formatQuantity(total);
    if (!isHugePages(name) || limit === undefined || compareQuantityTexts(text, limit) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container limits of ${text}`;
    errors.invalid(`${field}.limits[${name}]`, limit, detail);
  }
  spec.containers?.forEach(({ resources }, index) => {
    for (const [name, own] of Object.entries(resources?.limits ?? {})) {
      const limit = ownValue(limits, name);
      if (limit === undefined || compareQuantityTexts(own, limit) <= 0) continue;
      const at = `${field}.containers[${index}][${name}].limits`;
      errors.invalid(at, own, `must be less than or equal to pod limits of ${limit}`);
    }
  });
}

/** The pod's resource claims that a container uses, as a whole or by request. */
function checkClaims(
  errors: FieldErrors,
  field: string,
  claims: readonly ResourceClaim[],
  claimNames: ReadonlySet<string>,
): void {
  const seen = new Set<string>();
  claims.forEach(({ name, request = '' }, index) => {
    const at = `${field}[${index}]`;
    if (name === '') {
      errors.required(at);
      return;
    }
    checkClaimOnce(errors, at, { name, request, seen });
    if (!claimNames.has(name)) errors.notFound(at, name, knownClaims(claimNames));
  });
}

function knownClaims(claimNames: ReadonlySet<string>): string {
  const which = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
  return `must be one of the names in pod.spec.resourceClaims${which}`;
}

function checkClaimOnce(
  errors: FieldErrors,
  at: string,
  { name, request, seen }: { readonly name: string; readonly request: string; readonly seen: Set<string> },
): void {
  if (seen.has(name)) {
    errors.duplicate(at, name);
    return;
  }
  const key = request === '' ? name : `${name}/${request}`;
  if (request !== '') errors.invalidFor(`${at}.request`, request, dnsLabelProblems(request));
  if (seen.has(key)) errors.duplicate(at, key);
  else if (request === '') {
    for (const other of seen) if (other.startsWith(`${name}/`)) errors.duplicate(at, name);
  }
  seen.add(key);
}
