import type { JSONSchemaProps, SelectableField } from '../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { findField } from './schema/field-path.ts';

const selectableFieldsMax = 8;

/** Fields for field selectors: each must be a scalar that the schema specifies, and none may be listed twice. */
export function checkSelectableFields(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const field = `${path}[${index}].jsonPath`;
    if (jsonPath === '') errors.required(field);
    else checkSelectableField(jsonPath, { field, schema, seen, errors });
  }
  if (seen.size > selectableFieldsMax) errors.tooMany(path, seen.size, selectableFieldsMax);
}

interface Selection {
  readonly field: string;
  readonly schema: JSONSchemaProps;
  readonly seen: Set<string>;
  readonly errors: FieldErrors;
}

function checkSelectableField(jsonPath: string, { field, schema, seen, errors }: Selection): void {
  const found = findField(jsonPath, schema);
  if (found.kind === 'wrong') {
    errors.invalid(field, jsonPath, `is an invalid path: ${found.problem}`);
    return;
  }
  if (found.steps[0] === 'metadata') errors.invalid(field, jsonPath, 'must not point to fields in metadata');
  if (!plainTypes.has(found.schema?.type ?? '')) errors.invalid(field, jsonPath, onlyPlain);
  const path = found.steps.join('.');
  if (seen.has(path)) errors.duplicate(field, jsonPath);
  seen.add(path);
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'boolean', 'integer']);
const onlyPlain =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
