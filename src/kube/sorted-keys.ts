/** The keys of an object, sorted as Go sorts texts. Most objects are small, and most keys differ in their first letters. */
export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    if (keys.length > insertionSortMax) return keys.sort(compareUtf8);
    let at = i;
    for (; at > 0 && compareUtf8(keys[at - 1]!, key) > 0; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

/** A copy of the object whose keys are sorted; the values stay as they are. */
export function withSortedKeys<T extends object>(object: T): T {
  return Object.fromEntries(sortedKeys(object).map((key) => [key, object[key as keyof T]])) as T;
}

/** A copy of JSON in which the keys of all objects are sorted. */
export function withSortedKeysDeep<T>(value: T): T;
export function withSortedKeysDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withSortedKeysDeep(item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(sortedKeys(value).map((key) => [key, withSortedKeysDeep(fields[key])]));
}

/** Compares the UTF-8 bytes of two texts, as Go does. Only texts with surrogates sort differently in JavaScript. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codeRank(x) - codeRank(y);
  }
  return a.length - b.length;
}

/** Above this length, insertion sort is slower than the built-in sort. */
const insertionSortMax = 16;

function codeRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
