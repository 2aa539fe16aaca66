import { accountGroups, accountUserName, authenticatedGroup, type User } from './user.ts';

/** The issuer of tokens, and their audience unless the request names another. */
export const issuer = 'https://kubernetes.default.svc';

/** The claims in a service account's token. */
export interface AccountClaims {
  readonly aud: readonly string[];
  /** Seconds since 1970, as in all time claims. */
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly 'kubernetes.io': AccountBinding;
  readonly nbf: number;
  readonly sub: string;
}

/** The account, and the object that the token is bound to: the token is valid only while that object exists. */
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

/** Undefined if the token is signed with our key but is not a service account's token. */
export function asAccountClaims(claims: Readonly<Record<string, unknown>>): AccountClaims | undefined {
  const { iss, exp, iat, nbf, sub, jti, aud, 'kubernetes.io': binding } = claims;
  const areNumbers = [exp, iat, nbf].every((value) => typeof value === 'number');
  const areTexts = [iss, sub, jti].every((value) => typeof value === 'string');
  const isBound = typeof binding === 'object' && binding !== null;
  if (!areNumbers || !areTexts || !isBound || !Array.isArray(aud)) return undefined;
  // Signed with our own key, so the nested fields have the form that we wrote.
  return claims as unknown as AccountClaims;
}

/** The tolerated difference between clocks. */
export const leewaySeconds = 60;

/** An error message if the token is not valid at this time. */
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
