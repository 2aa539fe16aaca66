/** By bytes of UTF-8, as Go compares. Only surrogates sort differently in JavaScript. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codeRank(x) - codeRank(y);
  }
  return a.length - b.length;
}

/** The names of an object in that order. Most objects are small, and most names differ in their first letters. */
export function sortedNames(object: object): string[] {
  const names = Object.keys(object);
  for (let i = 1; i < names.length; i++) {
    const name = names[i]!;
    if (names.length > insertedMax) return names.sort(compareTexts);
    let at = i;
    for (; at > 0 && compareTexts(names[at - 1]!, name) > 0; at--) names[at] = names[at - 1]!;
    names[at] = name;
  }
  return names;
}

/** Longer lists are sorted by halves. */
const insertedMax = 16;

function codeRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
