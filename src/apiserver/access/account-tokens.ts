import { isReason } from '../../kube/api-error.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import type { Registry } from '../registry/registry.ts';
import {
  type AccountBinding,
  type AccountClaims,
  asAccountClaims,
  claimsTimeError,
  issuer,
  leewaySeconds,
  type ObjectIdentity,
  userFromClaims,
} from './account-claims.ts';
import { formatGoStrings } from './rule-coverage.ts';
import type { TokenKey } from './token-key.ts';
import { accountUserName, type User } from './user.ts';

/** The result of authenticating a token. `why` is empty if the token is not ours to judge. */
export type TokenResult =
  | { readonly kind: 'user'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

export interface AccountTokensOptions {
  readonly key: TokenKey;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface NewToken {
  readonly binding: AccountBinding;
  readonly audiences: readonly string[];
  readonly nowMs: number;
  readonly lifetimeSeconds: number;
}

/** How many verified signatures are cached. */
const verifiedMax = 1_024;

/**
 * Issues and authenticates tokens of service accounts. A token is valid while its account and the object that it is
 * bound to exist with the uids in the token; both are looked up for every request. Only verified signatures are cached,
 * because their validity never changes.
 */
export class AccountTokens {
  readonly #options: AccountTokensOptions;
  readonly #verified = new Map<string, AccountClaims>();

  constructor(options: AccountTokensOptions) {
    this.#options = options;
  }

  issue({ binding, audiences, nowMs, lifetimeSeconds }: NewToken): string {
    const now = Math.floor(nowMs / 1000);
    const claims: AccountClaims = {
      aud: audiences,
      exp: now + lifetimeSeconds,
      iat: now,
      iss: issuer,
      jti: this.#options.ids.uid(),
      'kubernetes.io': binding,
      nbf: now,
      sub: accountUserName(binding.namespace, binding.serviceaccount.name),
    };
    return this.#options.key.sign(claims);
  }

  async authenticate(token: string, audiences: readonly string[]): Promise<TokenResult> {
    const claims = this.#claimsOf(token);
    if (claims === undefined || claims.iss !== issuer) return refused('');
    const own = claims.aud.filter((audience) => audiences.includes(audience));
    if (own.length === 0) return refused(audienceMismatchMessage(claims.aud, audiences));
    const problem =
      claimsTimeError(claims, this.#options.clock.nowMs()) ?? (await this.#boundObjectsError(claims));
    return problem === undefined
      ? { kind: 'user', user: userFromClaims(claims), audiences: own }
      : refused(problem);
  }

  #claimsOf(token: string): AccountClaims | undefined {
    const known = this.#verified.get(token);
    if (known !== undefined) return known;
    const read = this.#options.key.claimsOf(token);
    const claims = read === undefined ? undefined : asAccountClaims(read);
    if (claims === undefined) return undefined;
    if (this.#verified.size >= verifiedMax) this.#verified.clear();
    this.#verified.set(token, claims);
    return claims;
  }

  async #boundObjectsError({ 'kubernetes.io': binding }: AccountClaims): Promise<string | undefined> {
    const { namespace, serviceaccount, secret, pod, node } = binding;
    return (
      (await this.#accountError(namespace, serviceaccount)) ??
      (await this.#boundObjectError('secrets', namespace, secret)) ??
      (await this.#boundObjectError('pods', namespace, pod)) ??
      // The node in a pod's token is only informative.
      (pod === undefined ? await this.#boundObjectError('nodes', undefined, node) : undefined)
    );
  }

  async #accountError(namespace: string, { name, uid = '' }: ObjectIdentity): Promise<string | undefined> {
    const account = await this.#find('serviceaccounts', { namespace, name });
    if (account === undefined) return `serviceaccounts ${JSON.stringify(name)} not found`;
    const { uid: found = '' } = account.metadata;
    if (found !== uid) return `service account UID (${found}) does not match claim (${uid})`;
    return this.#isDeletedBeyondLeeway(account)
      ? `service account ${namespace}/${name} has been deleted`
      : undefined;
  }

  async #boundObjectError(
    plural: keyof typeof boundKinds,
    namespace: string | undefined,
    identity: ObjectIdentity | undefined,
  ): Promise<string | undefined> {
    if (identity === undefined) return undefined;
    const object = await this.#find(plural, { namespace, name: identity.name });
    if (object === undefined || this.#isDeletedBeyondLeeway(object))
      return 'service account token has been invalidated';
    const { uid = '' } = object.metadata;
    if (uid === identity.uid) return undefined;
    const { kind, ref } = boundKinds[plural];
    return `${kind} UID (${uid}) does not match service account ${ref} ref claim (${identity.uid ?? ''})`;
  }

  async #find(plural: string, key: ObjectKey): Promise<StoredObject | undefined> {
    const { registry } = this.#options;
    const kind = registry.kinds.byPlural('v1', plural);
    if (kind === undefined) return undefined;
    try {
      return (await registry.get(kind, key)).object;
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #isDeletedBeyondLeeway({ metadata }: StoredObject): boolean {
    const deletedMs = parseTimestamp(metadata.deletionTimestamp);
    return deletedMs !== undefined && deletedMs < this.#options.clock.nowMs() - leewaySeconds * 1000;
  }
}

const boundKinds = {
  secrets: { kind: 'secret', ref: 'secret' },
  pods: { kind: 'pod', ref: 'pod' },
  nodes: { kind: 'node', ref: 'node' },
} as const;

function refused(why: string): TokenResult {
  return { kind: 'refused', why };
}

function audienceMismatchMessage(given: readonly string[], wanted: readonly string[]): string {
  return `token audiences ${formatGoStrings(given)} is invalid for the target audiences ${formatGoStrings(wanted)}`;
}
