import type { Condition } from '../../../kube/api/stored/meta.ts';
import { utf8Length } from '../../../kube/go/quote.ts';
import { checkSupported } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkLabelKey } from '../../validation/labels.ts';
import { regexProblem } from '../../validation/names.ts';

/**
 * Conditions of the common type `metav1.Condition`. Older kinds have their own condition types, which are not
 * validated.
 */
export function checkConditions(errors: FieldErrors, field: string, conditions: readonly Condition[]): void {
  const seen = new Set<string>();
  conditions.forEach((condition, index) => {
    if (seen.has(condition.type)) errors.duplicate(`${field}[${index}].type`, condition.type);
    seen.add(condition.type);
    checkCondition(errors, `${field}[${index}]`, condition);
  });
}

const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonMessage =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const reasonExamples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];

function checkCondition(errors: FieldErrors, field: string, condition: Condition): void {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = condition;
  checkLabelKey(errors, `${field}.type`, type);
  checkSupported(errors, `${field}.status`, status, ['False', 'True', 'Unknown']);
  if (observedGeneration < 0) {
    const detail = 'must be greater than or equal to zero';
    errors.invalid(`${field}.observedGeneration`, observedGeneration, detail);
  }
  if (lastTransitionTime === null) errors.required(`${field}.lastTransitionTime`);
  checkReason(errors, `${field}.reason`, reason);
  if (utf8Length(message) > messageBytesMax) errors.tooLong(`${field}.message`, messageBytesMax);
}

function checkReason(errors: FieldErrors, field: string, reason: string): void {
  if (reason === '') {
    errors.required(field);
    return;
  }
  if (!new RegExp(`^${reasonFormat}$`).test(reason)) {
    errors.invalid(field, reason, regexProblem(reasonMessage, reasonFormat, reasonExamples));
  }
  if (utf8Length(reason) > reasonBytesMax) errors.tooLong(field, reasonBytesMax);
}
