import type {
  PodReadinessGate,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from '../../../../../kube/api/stored/core.ts';
import { checkRequiredEnum, checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkLabelKey } from '../../../../validation/labels.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../../../validation/names.ts';
import { notPositiveMessage } from '../../../../validation/quantities.ts';
import { checkLabelSelector } from '../../../../validation/selectors.ts';
import { checkMatchLabelKeys } from './affinity.ts';

/** The effects of taints and tolerations. */
const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTolerations(
  errors: FieldErrors,
  field: string,
  tolerations: readonly Toleration[],
): void {
  tolerations.forEach((toleration, index) => {
    const at = `${field}[${index}]`;
    const { key = '', operator = '', effect = '' } = toleration;
    if (key !== '') checkLabelKey(errors, `${at}.key`, key);
    else if (operator !== 'Exists') {
      const detail =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${at}.operator`, operator, detail);
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(`${at}.effect`, effect, detail);
    }
    checkOperator(errors, `${at}.operator`, toleration);
    if (effect !== '') checkSupported(errors, `${at}.effect`, effect, taintEffects);
  });
}

export function checkReadinessGates(
  errors: FieldErrors,
  field: string,
  gates: readonly PodReadinessGate[],
): void {
  gates.forEach(({ conditionType }, index) => {
    const at = `${field}[${index}].conditionType`;
    errors.invalidFor(at, conditionType, qualifiedNameProblems(conditionType));
  });
}

export function checkSchedulingGates(
  errors: FieldErrors,
  field: string,
  gates: readonly PodSchedulingGate[],
): void {
  const seen = new Set<string>();
  gates.forEach(({ name }, index) => {
    const at = `${field}[${index}]`;
    errors.invalidFor(at, name, qualifiedNameProblems(name));
    if (seen.has(name)) errors.duplicate(at, name);
    seen.add(name);
  });
}

export function checkSpreadConstraints(
  errors: FieldErrors,
  field: string,
  constraints: readonly TopologySpreadConstraint[],
): void {
  constraints.forEach((constraint, index) => {
    const at = `${field}[${index}]`;
    const { topologyKey, whenUnsatisfiable, labelSelector, matchLabelKeys = [] } = constraint;
    checkPositive(errors, `${at}.maxSkew`, constraint.maxSkew);
    if (topologyKey === '') errors.required(`${at}.topologyKey`, 'can not be empty');
    checkSupported(errors, `${at}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
    if (constraints.slice(index + 1).some((other) => isSameSpread(constraint, other))) {
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
      errors.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair);
    }
    checkMinDomains(errors, `${at}.minDomains`, constraint);
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const value = constraint[policy];
      if (value !== undefined) checkSupported(errors, `${at}.${policy}`, value, ['Honor', 'Ignore']);
    }
    checkMatchLabelKeys(errors, at, labelSelector, { match: matchLabelKeys });
    checkLabelSelector(errors, `${at}.labelSelector`, labelSelector);
  });
}

/** A taint needs an effect; a toleration without an effect tolerates all effects. */
export function checkTaintEffect(errors: FieldErrors, field: string, effect: string): void {
  checkRequiredEnum(errors, field, effect, taintEffects);
}

function checkOperator(errors: FieldErrors, field: string, { operator = '', value = '' }: Toleration): void {
  if (operator === 'Equal' || operator === '') {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(field, value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') errors.invalid(field, value, "value must be empty when `operator` is 'Exists'");
  } else {
    // The feature gate of Lt and Gt is off, but Kubernetes' message names them.
    const isComparison = operator === 'Lt' || operator === 'Gt';
    errors.notSupported(field, operator, ['Equal', 'Exists', ...(isComparison ? ['Lt', 'Gt'] : [])]);
  }
}

function isSameSpread(a: TopologySpreadConstraint, b: TopologySpreadConstraint): boolean {
  return a.topologyKey === b.topologyKey && a.whenUnsatisfiable === b.whenUnsatisfiable;
}

function checkMinDomains(errors: FieldErrors, field: string, constraint: TopologySpreadConstraint): void {
  const { minDomains, whenUnsatisfiable: action } = constraint;
  if (minDomains === undefined) return;
  checkPositive(errors, field, minDomains);
  if (action !== 'DoNotSchedule') {
    const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
    errors.invalid(field, minDomains, detail);
  }
}

function checkPositive(errors: FieldErrors, field: string, value: number): void {
  if (value <= 0) errors.invalid(field, value, notPositiveMessage);
}
