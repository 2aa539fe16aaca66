import { createHash } from 'node:crypto';

/** A text prefixed with a checksum of 40 digits, which shows whether it is complete. */
export function withChecksum(text: string): Buffer {
  return Buffer.from(`${createHash('sha1').update(text).digest('hex')} ${text}`);
}
