/** Letters and digits that do not form words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const fnvPrime = 16_777_619;
const fnvOffset = 2_166_136_261;

/**
 * A short hash of a value, the same for any order of its keys. `collisions` gives another hash if two values happened
 * to share one.
 */
export function shortHash(text: string, collisions?: number): string {
  return safeEncoded(String(fnv(text + (collisions === undefined ? '' : String(collisions)))));
}

/** FNV-1 with 32 bits. */
function fnv(text: string): number {
  let hash = fnvOffset;
  for (const byte of new TextEncoder().encode(text)) hash = (Math.imul(hash, fnvPrime) ^ byte) >>> 0;
  return hash;
}

function safeEncoded(text: string): string {
  return [...text].map((character) => alphabet[character.charCodeAt(0) % alphabet.length]).join('');
}

/** Five characters for a text, in the alphabet of the API server's random suffixes. */
export function nameSuffix(text: string): string {
  let rest = fnv(text);
  return Array.from({ length: 5 }, () => {
    const character = alphabet[rest % alphabet.length];
    rest = Math.floor(rest / alphabet.length);
    return character;
  }).join('');
}
