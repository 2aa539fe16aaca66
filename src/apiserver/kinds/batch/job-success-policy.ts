import type { JobSpec, SuccessPolicy, SuccessPolicyRule } from '../../../kube/api/stored/batch.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { readIndexes } from './job-indexes.ts';

/** When a job succeeds before all its indexes have succeeded. */
export function checkSuccessPolicy(
  job: JobSpec,
  policy: SuccessPolicy,
  field: string,
  errors: FieldErrors,
): void {
  if (job.completionMode !== 'Indexed') {
    errors.invalid(field, shownSuccessPolicy(policy), 'requires indexed completion mode');
    return;
  }
  const rules = policy.rules ?? [];
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified';
    errors.required(`${field}.rules`, detail);
  }
  if (rules.length > rulesMax) errors.tooMany(`${field}.rules`, rules.length, rulesMax);
  rules.forEach((rule, index) => {
    checkRule(rule, job.completions ?? 0, `${field}.rules[${index}]`, errors);
  });
}

/** The policy as kube-apiserver prints it in errors: with Go field names. */
export function shownSuccessPolicy(policy: SuccessPolicy | undefined): object | null {
  if (!policy) return null;
  const rules = policy.rules?.map(({ succeededIndexes, succeededCount }) => ({
    SucceededIndexes: succeededIndexes ?? null,
    SucceededCount: succeededCount ?? null,
  }));
  return { Rules: rules ?? null };
}

const rulesMax = 20;
const indexesBytesMax = 64 * 1024;

function checkRule(rule: SuccessPolicyRule, completions: number, field: string, errors: FieldErrors): void {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    errors.required(field, 'at least one of succeededCount or succeededIndexes must be specified');
  }
  const total =
    succeededIndexes === undefined
      ? undefined
      : checkSucceededIndexes(succeededIndexes, completions, `${field}.succeededIndexes`, errors);
  if (succeededCount === undefined) return;
  const at = `${field}.succeededCount`;
  checkNonNegative(errors, at, succeededCount);
  if (succeededCount > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.invalid(at, succeededCount, detail);
  }
  if (total !== undefined && succeededCount > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    errors.invalid(at, succeededCount, detail);
  }
}

/** Returns the number of indexes. */
function checkSucceededIndexes(
  text: string,
  completions: number,
  field: string,
  errors: FieldErrors,
): number {
  if (utf8Length(text) > indexesBytesMax) errors.tooLong(field, indexesBytesMax);
  const result = readIndexes(text, completions);
  if (!result.ok) errors.invalid(field, text, `error parsing succeededIndexes: ${result.problem}`);
  return result.ok ? result.total : 0;
}
