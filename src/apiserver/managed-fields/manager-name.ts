/** Longer names are cut. */
const nameBytesMax = 128;

/** Who writes, where the request does not say: what the User-Agent says before its first slash. May be empty. */
export function managerFromUserAgent(userAgent: string): string {
  const [product = ''] = userAgent.split('/', 1);
  let name = '';
  let bytes = 0;
  for (const character of product) {
    if (!printable.test(character)) continue;
    bytes += utf8Length(character.codePointAt(0)!);
    if (bytes > nameBytesMax) break;
    name += character;
  }
  return name;
}

/** What Go calls printable: letters, marks, numbers, punctuation, symbols, and the blank. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
