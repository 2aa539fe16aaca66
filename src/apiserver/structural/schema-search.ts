import type { JsonSchema } from './json-schema.ts';

/**
 * Says of a schema whether something holds for it or for anything in it, so that walks can leave out the values where there is nothing
 * to find. Schemas don't change, so each is looked through once.
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
