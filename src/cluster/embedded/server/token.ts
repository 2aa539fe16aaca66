import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 32 random bytes, as text that headers and YAML take without quoting. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A kept token that is shorter was cut or made by hand; it is not worth guarding a cluster with. */
export function isPlausibleToken(token: string): boolean {
  return /^[\w.~+/=-]{32,}$/.test(token);
}

export type TokenCheck = 'right' | 'wrong' | 'missing';

/** Judges Authorization headers. How long it takes says nothing about the token. */
export function tokenChecker(token: string): (authorization: string | undefined) => TokenCheck {
  const expected = digest(token);
  return (authorization) => {
    const given = bearerOf(authorization);
    if (given === undefined) return 'missing';
    return timingSafeEqual(digest(given), expected) ? 'right' : 'wrong';
  };
}

function bearerOf(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return token;
}

/** Digests have one length, which timingSafeEqual needs. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
