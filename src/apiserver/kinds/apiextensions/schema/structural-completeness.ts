import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { itemSchemaOf } from './schema-walk.ts';

/**
 * Everything that `allOf`, `anyOf`, `oneOf` and `not` validate must also be specified outside of them. Kubernetes
 * checks only those of the root.
 */
export function checkCompleteness(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  checkValidated(schema, { schema, path }, path, errors);
}

/** The part of the structure that a value validation refers to. */
interface StructuralPart {
  readonly schema: JSONSchemaProps | undefined;
  readonly path: string;
}

function checkValidated(
  validation: JSONSchemaProps,
  structure: StructuralPart,
  path: string,
  errors: FieldErrors,
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = validation;
  if (not !== undefined) checkNested(not, structure, `${path}.not`, errors);
  for (const [name, validations] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [index, each] of validations.entries()) {
      checkNested(each, structure, `${path}.${name}[${index}]`, errors);
    }
  }
}

function checkNested(
  validation: JSONSchemaProps,
  structure: StructuralPart,
  path: string,
  errors: FieldErrors,
): void {
  const { schema, path: requiredPath } = structure;
  if (schema === undefined) {
    errors.required(requiredPath, `because it is defined in ${path}`);
    return;
  }
  checkValidated(validation, structure, path, errors);
  const items = itemSchemaOf(validation);
  if (items !== undefined) {
    checkNested(
      items,
      { schema: itemSchemaOf(schema), path: `${requiredPath}.items` },
      `${path}.items`,
      errors,
    );
  }
  for (const [name, property] of Object.entries(validation.properties ?? {})) {
    const part = `properties[${name}]`;
    const known = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    checkNested(property, { schema: known, path: `${requiredPath}.${part}` }, `${path}.${part}`, errors);
  }
}
