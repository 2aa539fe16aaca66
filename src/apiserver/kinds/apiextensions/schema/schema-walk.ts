import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';

/** A schema and all schemas inside it, in Kubernetes' order. */
export function* allSchemas(schema: JSONSchemaProps | undefined): Generator<JSONSchemaProps> {
  if (schema === undefined) return;
  yield schema;
  for (const part of partsOf(schema)) yield* allSchemas(part);
}

function* partsOf(schema: JSONSchemaProps): Generator<JSONSchemaProps> {
  const { items, additionalProperties, additionalItems } = schema;
  if (Array.isArray(items)) yield* items;
  else if (items !== undefined) yield items;
  yield* schema.allOf ?? [];
  yield* schema.anyOf ?? [];
  yield* schema.oneOf ?? [];
  if (schema.not !== undefined) yield schema.not;
  yield* Object.values(schema.properties ?? {});
  if (typeof additionalProperties === 'object') yield additionalProperties;
  yield* Object.values(schema.patternProperties ?? {});
  if (typeof additionalItems === 'object') yield additionalItems;
  yield* Object.values(schema.definitions ?? {});
  for (const each of Object.values(schema.dependencies ?? {})) if (!Array.isArray(each) && each) yield each;
}

/** The schema of the items; undefined if `items` is a list of schemas. */
export function itemSchemaOf({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  return Array.isArray(items) ? undefined : items;
}
