import type { FieldErrors } from './field-errors.ts';

/**
 * The value must be one of `supported`. The error lists them in the given order; Kubernetes sorts them in most places.
 */
export function checkSupported(
  errors: FieldErrors,
  field: string,
  value: string,
  supported: readonly string[],
): void {
  if (!supported.includes(value)) errors.notSupported(field, value, supported);
}

/** As `checkSupported`, but an empty value is reported as missing. */
export function checkRequiredEnum(
  errors: FieldErrors,
  field: string,
  value: string | undefined,
  supported: readonly string[],
): void {
  if (value === undefined || value === '') errors.required(field);
  else checkSupported(errors, field, value, supported);
}
