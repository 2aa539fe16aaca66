import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import type { JsonSchema } from '../../../schema/json-schema.ts';

/**
 * Why Kubernetes cannot convert a schema to a structural one, if it cannot. The OpenAPI rules report nearly all of this
 * with better messages, so this is reported only if they found nothing.
 */
export function conversionProblem(schema: JSONSchemaProps): string | undefined {
  const own = ownProblem(schema);
  if (own !== undefined) return own;
  for (const part of valueValidations(schema)) {
    const problem = conversionProblem(part);
    if (problem !== undefined) return problem;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const part of structuralParts(schema)) {
    const problem = conversionProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The same schema, in the type for validating and pruning values. The caller must know that it is structural. */
export function asJsonSchema(schema: JSONSchemaProps): JsonSchema {
  return schema as JsonSchema;
}

function ownProblem(schema: JSONSchemaProps): string | undefined {
  const unsupported = [
    ['id', schema.id],
    ['schema', schema.$schema],
    ['$ref', schema.$ref === '' ? undefined : schema.$ref],
    ['patternProperties', schema.patternProperties],
    ['dependencies', schema.dependencies],
    ['additionalItems', schema.additionalItems],
    ['definitions', schema.definitions],
  ].find(([, value]) => value !== undefined);
  return unsupported && `OpenAPIV3Schema '${unsupported[0]}' is not supported`;
}

function valueValidations({
  not,
  allOf = [],
  anyOf = [],
  oneOf = [],
}: JSONSchemaProps): readonly JSONSchemaProps[] {
  return [...(not === undefined ? [] : [not]), ...allOf, ...anyOf, ...oneOf];
}

function structuralParts({
  items,
  properties,
  additionalProperties,
}: JSONSchemaProps): readonly JSONSchemaProps[] {
  return [
    ...(items === undefined || Array.isArray(items) ? [] : [items]),
    ...Object.values(properties ?? {}),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
}
