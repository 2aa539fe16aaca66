import { createHash } from 'node:crypto';

/** A text with a checksum of 40 digits in front, which shows whether it is whole. */
export function withChecksum(text: string): Buffer {
  return Buffer.from(`${createHash('sha1').update(text).digest('hex')} ${text}`);
}
