import type { JsonSchema } from '../schema/json-schema.ts';

/**
 * Returns a function that says whether a schema, or any schema within it, has a property, so that walks can skip values
 * without it. The answers are cached, because schemas do not change.
 */
export function searchFor(has: (schema: JsonSchema) => boolean): (schema: JsonSchema) => boolean {
  const known = new WeakMap<JsonSchema, boolean>();
  const search = (schema: JsonSchema): boolean => {
    let found = known.get(schema);
    if (found === undefined) {
      found = has(schema) || childrenOf(schema).some(search);
      known.set(schema, found);
    }
    return found;
  };
  return search;
}

function childrenOf({
  properties = {},
  additionalProperties: rest,
  items,
}: JsonSchema): readonly JsonSchema[] {
  const children = Object.values(properties);
  if (typeof rest === 'object') children.push(rest);
  if (items !== undefined) children.push(items);
  return children;
}
