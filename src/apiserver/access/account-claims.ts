import { accountGroups, accountUserName, authenticatedGroup, type User } from './user.ts';

/** Who the server says it is, and whom its tokens are for unless somebody asks for something else. */
export const issuer = 'https://kubernetes.default.svc';

/** What a token says of a service account. */
export interface AccountClaims {
  readonly aud: readonly string[];
  /** Seconds since 1970, as all times in it. */
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly 'kubernetes.io': AccountBinding;
  readonly nbf: number;
  readonly sub: string;
}

/** The account, and the object that the token is worth something as long as there is. */
export interface AccountBinding {
  readonly namespace: string;
  readonly node?: ObjectIdentity;
  readonly pod?: ObjectIdentity;
  readonly secret?: ObjectIdentity;
  readonly serviceaccount: ObjectIdentity;
  readonly warnafter?: number;
}

export interface ObjectIdentity {
  readonly name: string;
  readonly uid?: string;
}

/** Undefined where it is signed by us and yet no token of an account. */
export function asAccountClaims(claims: Readonly<Record<string, unknown>>): AccountClaims | undefined {
  const { iss, exp, iat, nbf, sub, jti, aud, 'kubernetes.io': binding } = claims;
  const areNumbers = [exp, iat, nbf].every((value) => typeof value === 'number');
  const areTexts = [iss, sub, jti].every((value) => typeof value === 'string');
  const isBound = typeof binding === 'object' && binding !== null;
  if (!areNumbers || !areTexts || !isBound || !Array.isArray(aud)) return undefined;
  // Signed by our own key, so its parts are as we have written them.
  return claims as unknown as AccountClaims;
}

/** Clocks may differ by this much. */
export const leewaySeconds = 60;

/** What is wrong with the times of a token. */
export function claimsTimeError({ exp, nbf, iat }: AccountClaims, nowMs: number): string | undefined {
  const now = nowMs / 1000;
  if (now + leewaySeconds < nbf) return 'service account token is not valid yet';
  if (now - leewaySeconds > exp) return 'service account token has expired';
  if (now + leewaySeconds < iat) return 'service account token is issued in the future';
  return undefined;
}

export function userFromClaims({ jti, 'kubernetes.io': binding }: AccountClaims): User {
  const { namespace, serviceaccount, pod, node } = binding;
  const known = {
    'credential-id': `JTI=${jti}`,
    ...(node === undefined ? {} : { 'node-name': node.name }),
    ...(node?.uid === undefined || node.uid === '' ? {} : { 'node-uid': node.uid }),
    ...(pod === undefined ? {} : { 'pod-name': pod.name, 'pod-uid': pod.uid ?? '' }),
  };
  const extra = Object.entries(known).map(([key, value]) => [`authentication.kubernetes.io/${key}`, [value]]);
  return {
    name: accountUserName(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: [...accountGroups(namespace), authenticatedGroup],
    extra: Object.fromEntries(extra),
  };
}
