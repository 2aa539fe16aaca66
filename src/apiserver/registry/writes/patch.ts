import { ApiError, badRequest, failure, internalError, invalid, notFound } from '../../../kube/api-error.ts';
import { formatGoValue } from '../../../kube/go/format-value.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../kube/go/json-value.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { applyJsonPatch, unknownJsonPatchFields } from '../../patch/json-patch.ts';
import { applyMergePatch } from '../../patch/merge-patch.ts';
import { PatchError } from '../../patch/patch-error.ts';
import { applyStrategicMergePatch } from '../../patch/strategic-merge-patch.ts';
import { shapeOfType } from '../../patch/type-shapes.ts';
import {
  type ExpectedType,
  kindMismatch,
  parseApiVersion,
  withDefaults,
} from '../../schema/group-version-kind.ts';
import { formOf } from '../../schema/object-form.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import type { RequestedPatch, UpdateContext, WriteResult } from '../registry.ts';
import { applyObject } from './apply.ts';
import { checkObjectNames, replaceObject } from './update.ts';

/**
 * PATCH: changes the existing object, then continues like PUT. Reading, changing and storing happen without an await,
 * so nothing must be retried. A version inside the patch is compared like that of a PUT.
 */
export async function patchObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  patch: RequestedPatch,
  write: UpdateContext,
): Promise<WriteResult> {
  if (!isPlainPatch(patch)) return await applyObject(context, kind, key, patch, write);
  const found = findObject(context, kind, key);
  if (found === undefined) throw notFound(kind, key.name);
  const object = applyPlainPatch(kind, found.snapshot.object, patch, write);
  checkObjectNames(key, object);
  kind.defaults?.(object);
  return await replaceObject(context, kind, { found, object, write });
}

/** A patch that is applied without considering field owners. */
export interface PlainPatch extends RequestedPatch {
  readonly type: 'json' | 'merge' | 'strategic';
}

export function isPlainPatch(patch: RequestedPatch): patch is PlainPatch {
  return patch.type !== 'apply';
}

/** Applies the patch and normalizes the result. Unknown fields are dropped, reported or refused, as the caller wishes. */
export function applyPlainPatch(
  expected: ExpectedType,
  object: StoredObject,
  patch: PlainPatch,
  { warn }: Pick<UpdateContext, 'warn'>,
): StoredObject {
  const { type } = expected;
  const result = withPatchErrors(() => applyByType(type, object as unknown as JsonObject, patch));
  // For a custom resource, a wrong kind is reported by validation together with other errors.
  if (expected.form === undefined) checkKind(expected, result, patch);
  else checkKindPresent(result, patch);
  const { object: typed, unknownFields } = normalizePatched(expected, result, patch);
  const fieldErrors = [
    ...strictFieldErrors(patch),
    ...unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`),
  ];
  if (fieldErrors.length > 0 && patch.fieldValidation === 'Warn') for (const text of fieldErrors) warn(text);
  if (fieldErrors.length > 0 && patch.fieldValidation === 'Strict') {
    throw invalidPatchError(patch, result, `strict decoding error: ${fieldErrors.join(', ')}`);
  }
  if (expected.form !== undefined) return typed as unknown as StoredObject;
  return { ...typed, kind: object.kind, apiVersion: object.apiVersion } as StoredObject;
}

/** A patch must not change the kind. A strategic patch applies to the typed object, which has no kind to change. */
function checkKind(expected: ExpectedType, result: JsonObject, patch: PlainPatch): void {
  if (patch.type === 'strategic') return;
  const { group, version } = parseApiVersion(textOf(result.apiVersion)) ?? { group: '', version: '?' };
  const found = withDefaults({ group, version, kind: textOf(result.kind) }, expected);
  const problem = kindMismatch(found, expected);
  if (problem !== undefined) throw invalidPatchError(patch, result, problem.message);
}

/** A custom resource without kind and apiVersion cannot be decoded. */
function checkKindPresent(result: JsonObject, patch: PlainPatch): void {
  for (const field of ['apiVersion', 'kind'] as const) {
    const value = result[field] ?? '';
    if (typeof value === 'string') continue;
    const why = `json: cannot unmarshal ${jsonName(value)} into Go struct field .${field} of type string`;
    throw invalidPatchError(patch, result, `couldn't get version/kind; json parse error: ${why}`);
  }
  const apiVersion = textOf(result.apiVersion);
  if (parseApiVersion(apiVersion) === undefined) {
    throw invalidPatchError(patch, result, `unexpected GroupVersion string: ${apiVersion}`);
  }
  if (textOf(result.kind) === '') {
    throw invalidPatchError(patch, result, `Object 'Kind' is missing in '${jsonText(result)}'`);
  }
  if (apiVersion === '')
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

function jsonName(value: Json): string {
  if (typeof value === 'boolean') return 'bool';
  return isJsonArray(value) ? 'array' : typeof value === 'bigint' ? 'number' : typeof value;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function applyByType(type: string, object: JsonObject, patch: PlainPatch): JsonObject {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(object, patch.body);
    case 'merge':
      return applyMergePatch(object, patch.body);
    case 'strategic':
      return applyStrategicMergePatch(object, patch.body, shapeOfType(type));
  }
}

function normalizePatched(expected: ExpectedType, result: JsonObject, patch: PlainPatch) {
  try {
    return formOf(expected).normalize(result);
  } catch (error) {
    throw error instanceof ApiError ? invalidPatchError(patch, result, error.message) : error;
  }
}

function strictFieldErrors(patch: PlainPatch): readonly string[] {
  const repeated = patch.duplicateFields ?? [];
  if (patch.type !== 'json') return repeated;
  return [...repeated.map((text) => `json patch ${text}`), ...unknownJsonPatchFields(patch.body)];
}

/** Kubernetes includes the result of a JSON or merge patch in the error, but the patch itself of a strategic one. */
function invalidPatchError(patch: PlainPatch, result: JsonObject, why: string): ApiError {
  const errors = new FieldErrors();
  const isShown = patch.type === 'strategic' && isJsonObject(patch.body);
  errors.invalid('patch', isShown ? formatGoValue(patch.body as Json) : jsonText(result), why);
  return invalid({ group: '', kind: '' }, '', errors.causes);
}

function withPatchErrors<T>(apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.code === 400) throw badRequest(error.message);
    throw failure(error.code, error.reason, error.message, error.details);
  }
}
