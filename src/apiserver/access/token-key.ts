import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** Creates a key for signing tokens; PEM. */
export function makeTokenKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Whether a persisted key is usable. */
export function isTokenKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    // Truncated or of another type: the caller creates a new one.
    return false;
  }
}

/** Longer texts are not parsed as tokens. */
const tokenMaxLength = 16_384;

/** Signs claims as JSON Web Tokens (ES256) and verifies its own tokens. All others are rejected. */
export class TokenKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  readonly #id: string;
  readonly #header: string;

  constructor(pem: string) {
    this.#private = createPrivateKey(pem);
    this.#public = createPublicKey(this.#private);
    const der = this.#public.export({ type: 'spki', format: 'der' });
    this.#id = createHash('sha256').update(der).digest('base64url');
    this.#header = encoded({ alg: algorithm, kid: this.#id });
  }

  sign(claims: object): string {
    const signed = `${this.#header}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#private, dsaEncoding });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** The claims; undefined unless this key signed the token. They may have expired. */
  claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
    if (token.length > tokenMaxLength) return undefined;
    const [, header = '', payload = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
    if (!this.#isOwnHeader(decoded(header))) return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    const key = { key: this.#public, dsaEncoding } as const;
    return verify('sha256', Buffer.from(`${header}.${payload}`), key, bytes) ? decoded(payload) : undefined;
  }

  /** The public key, as served by `/openid/v1/jwks`. */
  get jwk(): object {
    const { kty, crv, x, y } = this.#public.export({ format: 'jwk' });
    return { use: 'sig', kty, kid: this.#id, crv, alg: algorithm, x, y };
  }

  /** The token must not choose the algorithm. */
  #isOwnHeader(header: Readonly<Record<string, unknown>> | undefined): boolean {
    return header?.alg === algorithm && header.kid === this.#id && header.crit === undefined;
  }
}

const algorithm = 'ES256';
const dsaEncoding = 'ieee-p1363';

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // Not JSON, so not a token.
    return undefined;
  }
}
