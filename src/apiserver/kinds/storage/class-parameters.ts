import { utf8Length } from '../../../kube/go/quote.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { qualifiedNameProblems } from '../../validation/names.ts';

/** Parameters that a class passes to its driver: free text, with limits on their number and total size. */
export function checkParameters(
  errors: FieldErrors,
  field: string,
  parameters: Readonly<Record<string, string>> | undefined,
): void {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > parametersMax) {
    errors.tooLong(field, parametersMax);
    return;
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') errors.invalid(field, key, 'field can not be empty.');
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > parametersBytesMax) errors.tooLong(field, parametersBytesMax);
}

/** The provisioner of a class: a qualified name, which may have upper case letters. */
export function checkProvisioner(errors: FieldErrors, field: string, provisioner: string): void {
  if (provisioner === '') {
    errors.required(field);
    return;
  }
  const name = provisioner.toLowerCase();
  errors.invalidFor(field, name, qualifiedNameProblems(name));
}

const parametersMax = 512;
const parametersBytesMax = 256 * 1024;
