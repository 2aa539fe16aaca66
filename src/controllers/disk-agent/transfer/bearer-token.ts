import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new secret that is sent as a bearer token; only its hash is stored. */
export function newToken(): string {
  return randomBytes(32).toString('hex');
}

/** SHA-256 in hexadecimal digits. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of an `Authorization` header. */
export function bearerTokenIn(header: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/=-]{1,512})$/i.exec(header ?? '')?.[1];
}

/** Whether the token has one of the hashes. The time that it takes says nothing about them. */
export function hasTokenHash(token: string | undefined, hashes: readonly (string | undefined)[]): boolean {
  const hash = Buffer.from(tokenHash(token ?? ''), 'hex');
  let isFound = false;
  for (const each of hashes) {
    const known = Buffer.from(each ?? '', 'hex');
    if (known.length === hash.length && timingSafeEqual(known, hash)) isFound = true;
  }
  return isFound && token !== undefined;
}
