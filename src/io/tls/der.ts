/**
 * Writes DER, the binary form of certificates (ITU-T X.690): a tag, a length and contents, which may be nested values.
 * Contains only what our certificates need.
 */
export type Der = Buffer;

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export function sequence(...parts: readonly Der[]): Der {
  return tagged(tags.sequence, Buffer.concat(parts));
}

export function set(...parts: readonly Der[]): Der {
  return tagged(tags.set, Buffer.concat(parts));
}

/** A non-negative number, given as big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const digits = Buffer.from(bytes.subarray(start));
  const isHighBitSet = ((digits[0] ?? 0) & 0x80) !== 0;
  return tagged(tags.integer, isHighBitSet ? Buffer.concat([Buffer.of(0), digits]) : digits);
}

export function boolean(value: boolean): Der {
  return tagged(tags.boolean, Buffer.of(value ? 0xff : 0));
}

export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(tags.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

export function utf8String(value: string): Der {
  return tagged(tags.utf8String, Buffer.from(value, 'utf8'));
}

export function octetString(contents: Uint8Array): Der {
  return tagged(tags.octetString, contents);
}

export function bitString(contents: Uint8Array, unusedBits = 0): Der {
  return tagged(tags.bitString, Buffer.concat([Buffer.of(unusedBits), contents]));
}

/** RFC 5280 requires two-digit years before 2050. */
export function time(ms: number): Der {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(tags.utcTime, Buffer.from(digits.slice(2), 'ascii'))
    : tagged(tags.generalizedTime, Buffer.from(digits, 'ascii'));
}

/** A context-specific value: `[0] EXPLICIT` contains another value, a primitive one contains plain bytes. */
export function context(tag: number, contents: Uint8Array, isConstructed: boolean): Der {
  return tagged(0x80 | (isConstructed ? 0x20 : 0) | tag, contents);
}

function tagged(tag: number, contents: Uint8Array): Der {
  return Buffer.concat([Buffer.of(tag), lengthOf(contents.length), contents]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}
