/** V8 keeps a text with any character beyond Latin-1 in two bytes a character. */
const bytesPerCharacter = 2;
/** An object or a list with its header and its properties or elements; objects of many shapes cost most. */
const collectionBytes = 120;
/** A slot for a value, and the header of a text or number in it. */
const valueBytes = 40;
const objectBytes = 500;

const comma = 0x2c;
const openingBracket = 0x5b;
const openingBrace = 0x7b;

/**
 * Estimates the memory of a decoded object together with its JSON, by counting the characters that begin a value. The
 * same characters in texts make the estimate too high, never too low.
 */
export function decodedObjectBytes(json: Uint8Array): number {
  let collections = 0;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === comma) values += 1;
    else if (byte === openingBrace || byte === openingBracket) collections += 1;
  }
  const texts = json.length * (1 + bytesPerCharacter);
  return objectBytes + texts + collections * collectionBytes + values * valueBytes;
}
