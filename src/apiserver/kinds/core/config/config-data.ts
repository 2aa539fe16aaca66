import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { configKeyProblems } from '../../../validation/names.ts';

/** The maximum size of all data of a ConfigMap or Secret. */
export const dataBytesMax = 1024 * 1024;

type Texts = Readonly<Record<string, string>>;

export function checkKeys(errors: FieldErrors, field: string, data: Texts | undefined): void {
  for (const key of Object.keys(data ?? {})) {
    errors.invalidFor(`${field}[${key}]`, key, configKeyProblems(key));
  }
}

/** The decoded size of base64 data. */
export function decodedBytes(data: Texts | undefined): number {
  return Object.values(data ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}

interface ImmutableData<Name extends string> {
  readonly immutable?: boolean | undefined;
  readonly data?: Texts | undefined;
  readonly binaryData?: Name extends 'binaryData' ? Texts | undefined : never;
}

/** Refuses changes of an object with `immutable: true`, including a change of `immutable` itself. */
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
