import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { itemSchemaOf } from './schema-walk.ts';

/** That whatever `allOf` and its like judge is also described. Kubernetes looks at those of the root only. */
export function checkCompleteness(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  checkValidated(schema, { schema, path }, path, errors);
}

/** The description of what is judged. */
interface StructuralPart {
  readonly schema: JSONSchemaProps | undefined;
  readonly path: string;
}

function checkValidated(
  judge: JSONSchemaProps,
  described: StructuralPart,
  path: string,
  errors: FieldErrors,
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = judge;
  if (not !== undefined) checkNested(not, described, `${path}.not`, errors);
  for (const [name, judges] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [index, each] of judges.entries()) {
      checkNested(each, described, `${path}.${name}[${index}]`, errors);
    }
  }
}

function checkNested(
  judge: JSONSchemaProps,
  described: StructuralPart,
  path: string,
  errors: FieldErrors,
): void {
  const { schema, path: wanted } = described;
  if (schema === undefined) {
    errors.required(wanted, `because it is defined in ${path}`);
    return;
  }
  checkValidated(judge, described, path, errors);
  const items = itemSchemaOf(judge);
  if (items !== undefined) {
    checkNested(items, { schema: itemSchemaOf(schema), path: `${wanted}.items` }, `${path}.items`, errors);
  }
  for (const [name, property] of Object.entries(judge.properties ?? {})) {
    const part = `properties[${name}]`;
    const known = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    checkNested(property, { schema: known, path: `${wanted}.${part}` }, `${path}.${part}`, errors);
  }
}
