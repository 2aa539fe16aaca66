import { isArray, isObject, type Json } from '../patch/json-value.ts';

/** With names in the order of Go's JSON: equal values read the same. */
export function sorted(value: Json): Json {
  if (isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as Json)]));
}
