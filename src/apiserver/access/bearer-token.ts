import { randomBytes, timingSafeEqual } from 'node:crypto';

/** 32 random bytes, as text that headers and YAML take without quoting. */
export function makeAdminToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A kept token that is shorter was cut or made by hand; it is not worth guarding a cluster with. */
export function isPlausibleAdminToken(token: string): boolean {
  return /^[\w.~+/=-]{32,}$/.test(token);
}

/** What an Authorization header carries; undefined where that is no token. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return token;
}

/** Knows one token again. How long it takes says nothing about it but its length, which is no secret. */
export function tokenVerifier(token: string): (given: string) => boolean {
  const expected = Buffer.from(token);
  return (text) => {
    const given = Buffer.from(text);
    const isOfLength = given.length === expected.length;
    return timingSafeEqual(isOfLength ? given : expected, expected) && isOfLength;
  };
}
