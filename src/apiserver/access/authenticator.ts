import { issuer } from './account-claims.ts';
import type { AccountTokens, TokenResult } from './account-tokens.ts';
import { bearerToken, tokenVerifier } from './bearer-token.ts';
import { admin } from './user.ts';

/** Identifies the user of a token: the admin or a service account. */
export class Authenticator {
  readonly #isAdmin: (token: string) => boolean;
  readonly #accounts: AccountTokens;

  constructor(adminToken: string, accounts: AccountTokens) {
    this.#isAdmin = tokenVerifier(adminToken);
    this.#accounts = accounts;
  }

  /** Undefined if the header carries no token. */
  async byHeader(authorization: string | undefined): Promise<TokenResult | undefined> {
    const token = bearerToken(authorization);
    return token === undefined ? undefined : await this.byToken(token, [issuer]);
  }

  async byToken(token: string, audiences: readonly string[]): Promise<TokenResult> {
    if (this.#isAdmin(token)) return { kind: 'user', user: admin, audiences: [issuer] };
    return await this.#accounts.authenticate(token, audiences);
  }
}
