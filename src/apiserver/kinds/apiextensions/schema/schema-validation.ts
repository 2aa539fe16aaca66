import type { CustomResourceValidation, JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import { checkRules } from '../../../cel/check-rules.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { checkDefaults } from './default-rules.ts';
import { internalSchema, schemaFields } from './internal-json.ts';
import { checkOpenApi } from './openapi-rules.ts';
import { asJsonSchema, conversionProblem } from './structural-form.ts';
import { checkStructural } from './structural-rules.ts';

interface SchemaPlace {
  readonly path: string;
  readonly hasStatus: boolean;
  readonly errors: FieldErrors;
}

/**
 * Validates the schema of a version, or the common one of all versions. Later rules rely on earlier ones: defaults are
 * checked only if the schema is structural, CEL rules only if the defaults are valid.
 */
export function checkSchema(validation: CustomResourceValidation | undefined, place: SchemaPlace): void {
  const schema = validation?.openAPIV3Schema;
  if (schema === undefined) return;
  const path = `${place.path}.openAPIV3Schema`;
  const errors = new FieldErrors();
  checkRoot(schema, { ...place, path, errors });
  const unreadable = conversionProblem(schema);
  const canCompile = unreadable === undefined && isStructuralWithDefaults(schema, path, errors);
  checkOpenApiAndRules(schema, path, { errors, canCompile });
  if (errors.isEmpty && unreadable !== undefined) errors.invalid(path, '', unreadable);
  place.errors.append(errors);
}

interface SchemaCheck {
  readonly errors: FieldErrors;
  /** Whether CEL rules can be compiled. */
  readonly canCompile: boolean;
}

function checkOpenApiAndRules(
  schema: JSONSchemaProps,
  path: string,
  { errors, canCompile }: SchemaCheck,
): void {
  const found = new FieldErrors();
  checkOpenApi(schema, path, found);
  errors.append(found);
  checkRules(asJsonSchema(schema), path, errors, {
    withoutCompiling: !canCompile,
    hasSchemaErrors: (level) => found.causes.some(({ field = '' }) => field.startsWith(`${level}.`)),
  });
}

function isStructuralWithDefaults(schema: JSONSchemaProps, path: string, errors: FieldErrors): boolean {
  const before = errors.count;
  checkStructural(schema, path, errors);
  if (errors.count === before) checkDefaults(schema, path, errors);
  return errors.count === before;
}

function checkRoot(schema: JSONSchemaProps, { path, hasStatus, errors }: SchemaPlace): void {
  if (hasStatus) checkRootBesideStatus(schema, path, errors);
  if (schema.nullable === true) errors.forbidden(`${path}.nullable`, 'nullable cannot be true at the root');
}

/**
 * With a status subresource, the status is validated by its own part of the schema, so other rules at the root would be
 * lost.
 */
function checkRootBesideStatus(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  for (const { goName, field } of schemaFields) {
    if (schema[field] === undefined) continue;
    if (field === 'type') {
      if (schema.type === 'object') continue;
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.invalid(`${path}.type`, schema.type, detail);
      return;
    }
    if (allowedBesideStatus.includes(goName)) continue;
    const detail = `only [${allowedBesideStatus.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
    errors.invalid(path, internalSchema(schema), detail);
    return;
  }
}

const allowedBesideStatus = [
  ...['Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum'],
  ...['MaxLength', 'MinLength', 'Pattern', 'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required'],
  ...['Items', 'Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields', 'XValidations'],
];
