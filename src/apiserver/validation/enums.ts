import type { FieldErrors } from './field-errors.ts';

/** One of a few texts. The error lists `supported` in the order given; Kubernetes sorts in most places. */
export function checkSupported(
  errors: FieldErrors,
  field: string,
  value: string,
  supported: readonly string[],
): void {
  if (!supported.includes(value)) errors.notSupported(field, value, supported);
}

/** As `checkSupported`, where nothing at all is an error of its own. */
export function checkRequiredEnum(
  errors: FieldErrors,
  field: string,
  value: string | undefined,
  supported: readonly string[],
): void {
  if (value === undefined || value === '') errors.required(field);
  else checkSupported(errors, field, value, supported);
}
