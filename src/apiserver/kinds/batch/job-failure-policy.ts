import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from '../../../kube/api/stored/batch.ts';
import { type FieldErrors, omitValue } from '../../validation/field-errors.ts';
import { qualifiedNameProblems } from '../../validation/names.ts';

/** Which failures of pods count, which fail the job, and which are ignored. */
export function checkFailurePolicy(
  job: JobSpec,
  policy: PodFailurePolicy,
  field: string,
  errors: FieldErrors,
): void {
  const rules = policy.rules ?? [];
  if (rules.length > rulesMax) errors.tooMany(`${field}.rules`, rules.length, rulesMax);
  rules.forEach((rule, index) => {
    checkRule(job, rule, `${field}.rules[${index}]`, errors);
  });
}

/** The policy as kube-apiserver prints it in errors: with Go field names. */
export function shownFailurePolicy(policy: PodFailurePolicy | undefined): object | null {
  if (!policy) return null;
  return {
    Rules:
      policy.rules?.map(({ action, onExitCodes: codes, onPodConditions }) => ({
        Action: action,
        OnExitCodes: codes
          ? { ContainerName: codes.containerName ?? null, Operator: codes.operator, Values: codes.values }
          : null,
        OnPodConditions: onPodConditions?.map(({ type, status }) => ({ Type: type, Status: status })) ?? null,
      })) ?? null,
  };
}

const rulesMax = 20;
const exitCodesMax = 255;
const patternsMax = 20;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

function checkRule(job: JobSpec, rule: PodFailurePolicyRule, field: string, errors: FieldErrors): void {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  if (action === 'FailIndex') {
    if (job.backoffLimitPerIndex === undefined) {
      errors.invalid(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set');
    }
  } else checkListed(errors, `${field}.action`, action, actions);
  if (onExitCodes) checkExitCodes(job, onExitCodes, `${field}.onExitCodes`, errors);
  if (onPodConditions.length > 0) checkPatterns(onPodConditions, `${field}.onPodConditions`, errors);
  if (onExitCodes && onPodConditions.length > 0) {
    errors.invalid(field, omitValue, 'specifying both OnExitCodes and OnPodConditions is not supported');
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    errors.invalid(field, omitValue, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function checkPatterns(
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
  field: string,
  errors: FieldErrors,
): void {
  if (patterns.length > patternsMax) errors.tooMany(field, patterns.length, patternsMax);
  patterns.forEach(({ type, status }, index) => {
    errors.invalidFor(`${field}[${index}].type`, type, qualifiedNameProblems(type));
    checkListed(errors, `${field}[${index}].status`, status, statuses);
  });
}

function checkExitCodes(
  job: JobSpec,
  requirement: PodFailurePolicyOnExitCodesRequirement,
  field: string,
  errors: FieldErrors,
): void {
  const { containerName, operator } = requirement;
  checkListed(errors, `${field}.operator`, operator, operators);
  if (containerName !== undefined && !containerNames(job).has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.invalid(`${field}.containerName`, containerName, detail);
  }
  checkExitCodeValues(requirement.values, operator, `${field}.values`, errors);
}

/** The codes must be sorted and unique; 0 is not a failure, so it is not allowed with `In`. */
function checkExitCodeValues(
  listed: readonly number[] | null,
  operator: string,
  field: string,
  errors: FieldErrors,
): void {
  const values = listed ?? [];
  if (values.length === 0) errors.invalid(field, listed, 'at least one value is required');
  else if (values.length > exitCodesMax) errors.tooMany(field, values.length, exitCodesMax);
  const seen = new Set<number>();
  values.forEach((value, index) => {
    if (operator === 'In' && value === 0) {
      errors.invalid(`${field}[${index}]`, value, 'must not be 0 for the In operator');
    }
    if (seen.has(value)) errors.duplicate(`${field}[${index}]`, value);
    seen.add(value);
  });
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value);
  if (!isOrdered) errors.invalid(field, values, 'must be ordered');
}

function containerNames({ template }: JobSpec): ReadonlySet<string> {
  const { containers, initContainers } = template.spec;
  return new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name));
}

function checkListed(errors: FieldErrors, field: string, value: string, listed: readonly string[]): void {
  if (value === '') errors.required(field, `valid values: [${listed.map((one) => `"${one}"`).join(' ')}]`);
  else if (!listed.includes(value)) errors.notSupported(field, value, listed);
}
