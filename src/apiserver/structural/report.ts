import { formatGoJson } from '../../kube/go/json-text.ts';
import type { Json } from '../../kube/go/json-value.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import type { SchemaProblem } from './validation-run.ts';

/**
 * Converts problems to field errors of Kubernetes; `under` is the path of the validated value, empty for a whole
 * object.
 */
export function reportProblems(problems: Iterable<SchemaProblem>, errors: FieldErrors, under: string): void {
  for (const problem of problems) addFieldError(problem, errors, fieldOf(problem, under));
}

function addFieldError(problem: SchemaProblem, errors: FieldErrors, field: string): void {
  const { kind, message, value = '', supported = [], max = -1 } = problem;
  switch (kind) {
    case 'required':
      errors.required(field);
      break;
    case 'enum':
      errors.notSupported(field, withSortedKeysDeep(value as Json), supported.map(formatSupported));
      break;
    case 'tooLong':
      errors.tooLong(field, max);
      break;
    case 'tooMany':
      errors.tooMany(field, value as number, max);
      break;
    case 'type':
      errors.typeInvalid(field, value, message);
      break;
    case 'invalid':
    case 'unplaced':
      errors.invalid(field, value, message);
      break;
  }
}

/** Go's text for an absent path. */
const noPath = '<nil>';

function fieldOf({ kind, name }: SchemaProblem, under: string): string {
  const field = name.startsWith('.') ? name.slice(1) : name;
  if (kind === 'unplaced' || field === '') return under === '' ? noPath : under;
  return under === '' ? field : `${under}.${field}`;
}

function formatSupported(value: Json): string {
  return typeof value === 'string' ? value : formatGoJson(withSortedKeysDeep(value));
}
