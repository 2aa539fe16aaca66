import { formatGoJson } from '../../kube/go/json-text.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { searchFor } from './schema-search.ts';

/**
 * Checks that lists of type set have no duplicate elements, and lists of type map no duplicate keys. An element that
 * occurs more often is reported once, at its second position.
 */
export function checkLists(value: unknown, schema: JsonSchema, errors: FieldErrors): void {
  if (isJsonObject(value)) checkFields(value, schema, '', errors);
}

const containsUniqueLists = searchFor((schema) => {
  const type = schema['x-kubernetes-list-type'];
  return type === 'set' || type === 'map';
});

function checkValue(value: Json, schema: JsonSchema, path: string, errors: FieldErrors): void {
  if (!containsUniqueLists(schema)) return;
  if (isJsonArray(value)) checkList(value, schema, path, errors);
  else if (isJsonObject(value)) checkFields(value, schema, path, errors);
}

function checkFields(value: JsonObject, schema: JsonSchema, path: string, errors: FieldErrors): void {
  const { properties, additionalProperties: rest } = schema;
  for (const name of Object.keys(value)) {
    const field = value[name] as Json;
    if (typeof field !== 'object' || field === null) continue;
    if (typeof rest === 'object') checkValue(field, rest, `${path}[${name}]`, errors);
    const named = ownValue(properties, name);
    if (named !== undefined) checkValue(field, named, path === '' ? name : `${path}.${name}`, errors);
  }
}

function checkList(value: readonly Json[], schema: JsonSchema, path: string, errors: FieldErrors): void {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') {
    for (const index of repeated(value))
      errors.duplicate(`${path}[${index}]`, withSortedKeysDeep(value[index] as Json));
  } else if (type === 'map') checkMap(value, schema, path, errors);
  const { items } = schema;
  if (items === undefined) return;
  value.forEach((each, index) => {
    checkValue(each, items, `${path}[${index}]`, errors);
  });
}

function checkMap(value: readonly Json[], schema: JsonSchema, path: string, errors: FieldErrors): void {
  const wrongIndex = value.findIndex((each) => each !== null && !isJsonObject(each));
  if (wrongIndex >= 0) {
    const message = 'must be an object for an array of list-type map';
    errors.invalid(`${path}[${wrongIndex}]`, withSortedKeysDeep(value[wrongIndex] as Json), message);
    return;
  }
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  const keys = value.map((each) => keyOf(each, names));
  for (const index of repeated(keys))
    errors.duplicate(`${path}[${index}]`, withSortedKeysDeep(keys[index] as Json));
}

/** The keys that the element has; null has none. */
function keyOf(element: Json, names: readonly string[]): JsonObject {
  if (!isJsonObject(element)) return {};
  const entries = names.map((name) => [name, ownValue(element, name)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** The positions at which a value occurs for the second time. */
function repeated(values: readonly Json[]): readonly number[] {
  if (values.length <= 1) return [];
  const seen = new Map<Json, number>();
  const found: number[] = [];
  values.forEach((value, index) => {
    // The prefix distinguishes a text from the JSON of an object or list.
    const key =
      typeof value === 'object' && value !== null
        ? `c${formatGoJson(withSortedKeysDeep(value))}`
        : scalarKey(value);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times === 2) found.push(index);
  });
  return found;
}

function scalarKey(value: Json): Json {
  return typeof value === 'string' ? `s${value}` : value;
}
