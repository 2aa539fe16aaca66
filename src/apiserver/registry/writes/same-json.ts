/**
 * Whether two values are stored as the same JSON, whatever the order of their keys. A key without a value is not written, and an empty
 * list is stored as null where it is written at all.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b || (isNoList(a) && isNoList(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  }
  return hasSameFields(a as Fields, b as Fields) && hasNoMoreThan(b as Fields, a as Fields);
}

function isNoList(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

type Fields = Readonly<Record<string, unknown>>;

function hasSameFields(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (!isSameJson(a[key], b[key])) return false;
  return true;
}

function hasNoMoreThan(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (a[key] !== undefined && b[key] === undefined) return false;
  return true;
}
