import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { configKeyProblems } from '../../../validation/names.ts';

/** What ConfigMaps and Secrets may hold in all. */
export const dataBytesMax = 1024 * 1024;

type Texts = Readonly<Record<string, string>>;

export function checkKeys(errors: FieldErrors, field: string, data: Texts | undefined): void {
  for (const key of Object.keys(data ?? {})) {
    errors.invalidFor(`${field}[${key}]`, key, configKeyProblems(key));
  }
}

/** Of data in base64. */
export function decodedBytes(data: Texts | undefined): number {
  return Object.values(data ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}

interface ImmutableData<Name extends string> {
  readonly immutable?: boolean | undefined;
  readonly data?: Texts | undefined;
  readonly binaryData?: Name extends 'binaryData' ? Texts | undefined : never;
}

/** Whoever sets `immutable` cannot take it back. */
export function checkImmutableData<Name extends 'data' | 'binaryData'>(
  errors: FieldErrors,
  object: ImmutableData<Name>,
  old: ImmutableData<Name>,
  names: readonly Name[],
): void {
  if (old.immutable !== true) return;
  const detail = 'field is immutable when `immutable` is set';
  if (object.immutable !== true) errors.forbidden('immutable', detail);
  for (const name of names) if (!isSemanticallyEqual(object[name], old[name])) errors.forbidden(name, detail);
}
