/**
 * Whether two values of an object mean the same, as Kubernetes compares them: absent, null, an empty list and an empty
 * map are one; the order of keys says nothing, the order of a list does. A text, a number or a boolean differs from an
 * absent one also where it is empty, zero or false: where it should not, it is left out of stored objects.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return equalLists(a, b);
  if (isMap(a) && isMap(b)) return equalMaps(a, b);
  return isEmpty(a) && isEmpty(b);
}

type Fields = Readonly<Record<string, unknown>>;

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
}

function equalMaps(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (!deepEqual(a[key], own(b, key))) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isEmpty(b[key])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).every((key) => isEmpty(value[key]));
}

function own(map: Fields, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
