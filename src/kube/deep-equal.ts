/*
 * Kubernetes has three equalities of objects, and they differ in what an absent value equals:
 * - `isEqualJson`: exact; a key with null differs from an absent key. Patches and managedFields compare this way.
 * - `isSemanticallyEqual`: apiequality.Semantic.DeepEqual; validation of updates compares this way.
 * - `isEqualWhenStored`: a server stores both as the same bytes, so that a write changes nothing.
 */

/** Whether two JSON values are the same. The order of keys has no meaning, the order of a list has. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqualJson(item, b[i]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]));
}

/**
 * Whether two values of an object mean the same: absent, null, an empty list and an empty map are equal. A text, a number
 * or a boolean differs from an absent one even if it is empty, zero or false: stored objects leave such a value out where
 * it means the same as an absent one.
 */
export function isSemanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSemanticallyEqual(item, b[index]));
  }
  if (isMap(a) && isMap(b)) return equalMaps(a, b);
  return isEmpty(a) && isEmpty(b);
}

/**
 * Whether two values have the same stored JSON. A key whose value is undefined is not stored, and an empty list is stored
 * as null.
 */
export function isEqualWhenStored(a: unknown, b: unknown): boolean {
  if (a === b || (isNullWhenStored(a) && isNullWhenStored(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqualWhenStored(item, b[index]));
  }
  return hasEqualFields(a as Fields, b as Fields) && hasAllFieldsOf(b as Fields, a as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function equalMaps(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (!isSemanticallyEqual(a[key], ownValue(b, key))) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isEmpty(b[key])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).every((key) => isEmpty(value[key]));
}

function isNullWhenStored(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function hasEqualFields(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (!isEqualWhenStored(a[key], b[key])) return false;
  return true;
}

/** Whether `b` has a value for every key for which `a` has one. */
function hasAllFieldsOf(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (a[key] !== undefined && b[key] === undefined) return false;
  return true;
}

function ownValue(map: Fields, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
