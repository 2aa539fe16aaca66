import type { LimitRange, LimitRangeItem } from '../../../../kube/api/stored/core.ts';
import { ownValue } from '../../../../kube/go/json-value.ts';
import { quantityToNano } from '../../../../kube/quantities/quantity.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules, qualifiedNameProblems } from '../../../validation/names.ts';
import { compareQuantityTexts, quantityOf } from '../../../validation/quantities.ts';
import type { ServedKind } from '../../served-kind.ts';
import { roundToMilli } from '../resources/resource-list.ts';
import { checkContainerResourceName, checkResourceName } from '../resources/resource-name-checks.ts';
import { isOvercommittable } from '../resources/resource-names.ts';

export const limitRangeKind: ServedKind<LimitRange> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  namespaced: true,
  type: 'core/v1.LimitRange',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,

  defaults({ spec }) {
    for (const item of spec.limits ?? []) defaultLimits(item);
  },
  validate: checkLimitRange,
  validateUpdate: (limitRange, _old, errors) => checkLimitRange(limitRange, errors),

  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Created At', type: 'date' },
  ],
  row: (limitRange) => [limitRange.metadata.name ?? '', limitRange.metadata.creationTimestamp ?? null],
};

/** Defaults for containers: limits default to the maximum; requests default to the limits, otherwise to the minimum. */
function defaultLimits(item: LimitRangeItem): void {
  for (const list of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
    roundToMilli(list);
  }
  if (item.type !== 'Container') return;
  item.default = { ...item.max, ...item.default };
  item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest };
}

const types: readonly string[] = ['Pod', 'Container', 'PersistentVolumeClaim'];

function checkLimitRange({ spec }: LimitRange, errors: FieldErrors): void {
  const seen = new Set<string>();
  spec.limits?.forEach((item, index) => {
    const field = `spec.limits[${index}]`;
    checkType(errors, `${field}.type`, item.type);
    if (seen.has(item.type)) errors.duplicate(`${field}.type`, item.type);
    seen.add(item.type);
    checkItem(item, field, errors);
  });
}

function checkType(errors: FieldErrors, field: string, type: string): void {
  const problems = qualifiedNameProblems(type);
  errors.invalidFor(field, type, problems);
  if (problems.length === 0 && !type.includes('/') && !types.includes(type)) {
    errors.invalid(field, type, 'must be a standard limit type or fully qualified');
  }
}

function checkItem(item: LimitRangeItem, field: string, errors: FieldErrors): void {
  const resources = new Set<string>();
  const checkNames = (list: 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio') => {
    for (const name of Object.keys(item[list] ?? {})) {
      const check =
        item.type === 'Pod' || item.type === 'Container' ? checkContainerResourceName : checkResourceName;
      check(errors, `${field}.${list}[${name}]`, name);
      resources.add(name);
    }
  };
  checkNames('max');
  checkNames('min');
  for (const list of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') checkNames(list);
    else if (Object.keys(item[list] ?? {}).length > 0) {
      errors.forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'");
    }
  }
  if (item.type === 'PersistentVolumeClaim' && !item.min?.storage && !item.max?.storage) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    errors.required(`${field}.limits`, detail);
  }
  checkNames('maxLimitRequestRatio');
  for (const name of resources) checkAmounts(item, name, field, errors);
}

/** The amounts of one resource must satisfy minimum <= request <= limit <= maximum. */
function checkAmounts(item: LimitRangeItem, name: string, field: string, errors: FieldErrors): void {
  const [min, max] = [ownValue(item.min, name), ownValue(item.max, name)];
  const isPod = item.type === 'Pod';
  const limit = isPod ? undefined : ownValue(item.default, name);
  const request = isPod ? undefined : ownValue(item.defaultRequest, name);
  if (exceeds(min, max)) {
    errors.invalid(`${field}.min[${name}]`, min, `min value ${min} is greater than max value ${max}`);
  }
  const requestField = `${field}.defaultRequest[${name}]`;
  if (exceeds(min, request)) {
    errors.invalid(
      requestField,
      request,
      `min value ${min} is greater than default request value ${request}`,
    );
  }
  if (exceeds(request, max)) {
    errors.invalid(
      requestField,
      request,
      `default request value ${request} is greater than max value ${max}`,
    );
  }
  if (exceeds(request, limit)) {
    const detail = `default request value ${request} is greater than default limit value ${limit}`;
    errors.invalid(requestField, request, detail);
  }
  const limitField = `${field}.default[${name}]`;
  if (exceeds(min, limit)) {
    errors.invalid(limitField, min, `min value ${min} is greater than default value ${limit}`);
  }
  if (exceeds(limit, max)) {
    errors.invalid(limitField, max, `default value ${limit} is greater than max value ${max}`);
  }
  checkRatio(item, name, `${field}.maxLimitRequestRatio[${name}]`, errors);
  const differ = limit !== undefined && request !== undefined && compareQuantityTexts(limit, request) !== 0;
  if (!isOvercommittable(name) && differ) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.invalid(requestField, request, detail);
  }
}

/** False if one of them is absent. */
function exceeds(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && compareQuantityTexts(a, b) > 0;
}

function checkRatio(item: LimitRangeItem, name: string, field: string, errors: FieldErrors): void {
  const ratio = ownValue(item.maxLimitRequestRatio, name);
  if (ratio === undefined) return;
  if (compareQuantityTexts(ratio, '1') < 0) errors.invalid(field, ratio, `ratio ${ratio} is less than 1`);
  const [min, max] = [ownValue(item.min, name), ownValue(item.max, name)];
  if (min === undefined || max === undefined) return;
  const possible = numberOf(max) / numberOf(min);
  if (numberOf(ratio) > possible) {
    errors.invalid(field, ratio, `ratio ${ratio} is greater than max/min = ${possible.toFixed(6)}`);
  }
}

function numberOf(text: string): number {
  return Number(quantityToNano(quantityOf(text))) / 1e9;
}
