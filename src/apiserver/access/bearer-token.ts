import { randomBytes, timingSafeEqual } from 'node:crypto';

/** 32 random bytes, encoded so that headers and YAML need no quoting. */
export function makeAdminToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A shorter persisted token was truncated or edited by hand and is too weak. */
export function isPlausibleAdminToken(token: string): boolean {
  return /^[\w.~+/=-]{32,}$/.test(token);
}

/** The token in an Authorization header; undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return token;
}

/** Compares tokens in constant time; timing reveals only the length, which is not secret. */
export function tokenVerifier(token: string): (given: string) => boolean {
  const expected = Buffer.from(token);
  return (text) => {
    const given = Buffer.from(text);
    const isOfLength = given.length === expected.length;
    return timingSafeEqual(isOfLength ? given : expected, expected) && isOfLength;
  };
}
