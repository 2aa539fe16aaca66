import type { JsonSchema, SchemaValidationRule } from '../../schema/json-schema.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { parseFieldPath } from './field-path.ts';

/** Checks the fields of rules without compiling them. Returns true if there are errors. */
export function checkRuleFields(schema: JsonSchema, path: string, errors: FieldErrors): boolean {
  const before = errors.count;
  (schema['x-kubernetes-validations'] ?? []).forEach((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    checkTexts(rule, at, errors);
    checkReason(rule, at, errors);
    checkFieldPath(rule, { schema, at, errors });
  });
  return errors.count > before;
}

function checkTexts(rule: SchemaValidationRule, at: string, errors: FieldErrors): void {
  const text = rule.rule.trim();
  const { message = '', messageExpression = '' } = rule;
  if (text === '') {
    errors.required(`${at}.rule`, 'rule is not specified');
  } else if (message !== '' && message.trim() === '') {
    errors.invalid(`${at}.message`, message, 'must be non-empty if specified');
  } else if (hasLineBreaks(message.trim())) {
    errors.invalid(`${at}.message`, message, 'must not contain line breaks');
  } else if (hasLineBreaks(text) && message.trim() === '') {
    errors.required(`${at}.message`, 'message must be specified if rule contains line breaks');
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified');
  }
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function checkReason({ reason }: SchemaValidationRule, at: string, errors: FieldErrors): void {
  if (reason !== undefined && !reasons.includes(reason)) errors.notSupported(`${at}.reason`, reason, reasons);
}

function checkFieldPath(
  { fieldPath = '' }: SchemaValidationRule,
  { schema, at, errors }: { readonly schema: JsonSchema; readonly at: string; readonly errors: FieldErrors },
): void {
  if (fieldPath === '') return;
  const field = `${at}.fieldPath`;
  if (fieldPath.trim() === '') errors.invalid(field, fieldPath, 'must be non-empty if specified');
  if (hasLineBreaks(fieldPath)) errors.invalid(field, fieldPath, 'must not contain line breaks');
  if (!parseFieldPath(fieldPath, schema).ok) errors.invalid(field, fieldPath, 'must be a valid path');
}

function hasLineBreaks(text: string): boolean {
  return /[\n\r]/.test(text);
}
