import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Registry, WriteGuard } from '../registry/registry.ts';
import { forbiddenError, unauthorizedError } from './access-errors.ts';
import { issuer } from './account-claims.ts';
import { AccountTokens } from './account-tokens.ts';
import { type Attributes, type AttributesRequest, attributesOf } from './attributes.ts';
import { Authenticator } from './authenticator.ts';
import { Authorizer } from './authorizer.ts';
import { escalationGuard } from './escalation-guard.ts';
import { type HeaderValues, Impersonator, requestedUser } from './impersonation.ts';
import { TokenKey } from './token-key.ts';
import { anonymous, type User } from './user.ts';

export interface AccessOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The admin's token; its holder may do everything. */
  readonly token: string;
  /** Signs the tokens of service accounts; PEM. */
  readonly tokenKey: string;
}

/** The authorized sender of a request. */
export interface Caller {
  readonly user: User;
  /** The authorized action; undefined if the path cannot be parsed. */
  readonly attributes: Attributes | undefined;
  /** Guards the caller's writes; undefined if the caller may do everything. */
  readonly guard: WriteGuard | undefined;
}

export interface AccessRequest extends AttributesRequest {
  readonly authorization: string | undefined;
  readonly headerValues: HeaderValues;
  /** Whether unauthenticated clients may send the request. */
  readonly isPublic: boolean;
}

/**
 * Authenticates the requestor, resolves impersonation and authorizes the request. Every request passes through here
 * before anything else happens.
 */
export class Access {
  readonly authorizer: Authorizer;
  readonly authenticator: Authenticator;
  readonly tokens: AccountTokens;
  readonly #impersonator: Impersonator;
  readonly #key: TokenKey;

  private constructor(authorizer: Authorizer, { registry, clock, ids, token, tokenKey }: AccessOptions) {
    this.#key = new TokenKey(tokenKey);
    this.authorizer = authorizer;
    this.#impersonator = new Impersonator(authorizer);
    this.tokens = new AccountTokens({ key: this.#key, registry, clock, ids });
    this.authenticator = new Authenticator(token, this.tokens);
  }

  static async start(options: AccessOptions): Promise<Access> {
    return new Access(await Authorizer.start(options.registry), options);
  }

  /** Throws 401 if unauthenticated, 403 if unauthorized. */
  async authorizeRequest(request: AccessRequest): Promise<Caller> {
    const requestor = await this.#requestorOf(request);
    const attributes = attributesOf(request);
    // A path that cannot be parsed leads nowhere, so there is nothing to authorize.
    if (attributes === undefined) return { user: requestor, attributes, guard: undefined };
    const requested = requestedUser(request.headerValues);
    const user =
      requested === undefined ? requestor : this.#impersonator.userFor({ requestor, requested, attributes });
    // Probes must work regardless of roles.
    if (!request.isPublic) this.#authorize(user, attributes);
    const guard =
      attributes.kind === 'resource' ? escalationGuard(this.authorizer, user, attributes) : undefined;
    return { user, attributes, guard };
  }

  /** The public keys, for programs that verify tokens themselves. */
  get keySet(): object {
    return { keys: [this.#key.jwk] };
  }

  close(): void {
    this.authorizer.close();
  }

  async #requestorOf({ authorization, isPublic }: AccessRequest): Promise<User> {
    const outcome = await this.authenticator.byHeader(authorization);
    if (outcome?.kind === 'user') return outcome.user;
    if (outcome === undefined && isPublic) return anonymous;
    throw unauthorizedError();
  }

  #authorize(user: User, attributes: Attributes): void {
    const { isAllowed, reason } = this.authorizer.decide(user, attributes);
    if (!isAllowed) throw forbiddenError(user, attributes, reason);
  }
}

/** The OpenID discovery document, which names the URL of the keys. */
export function openIdConfiguration(serverAddress: string): object {
  return {
    issuer,
    jwks_uri: `https://${serverAddress}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}
