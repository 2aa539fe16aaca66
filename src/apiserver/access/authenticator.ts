import { issuer } from './account-claims.ts';
import type { AccountTokens, TokenOutcome } from './account-tokens.ts';
import { bearerOf, tokenChecker } from './bearer-token.ts';
import { admin } from './user.ts';

/** Says whose a token is: the admin's, or that of a service account. */
export class Authenticator {
  readonly #isAdmin: (token: string) => boolean;
  readonly #accounts: AccountTokens;

  constructor(adminToken: string, accounts: AccountTokens) {
    this.#isAdmin = tokenChecker(adminToken);
    this.#accounts = accounts;
  }

  /** Undefined where the header carries no token. */
  async byHeader(authorization: string | undefined): Promise<TokenOutcome | undefined> {
    const token = bearerOf(authorization);
    return token === undefined ? undefined : await this.byToken(token, [issuer]);
  }

  async byToken(token: string, audiences: readonly string[]): Promise<TokenOutcome> {
    if (this.#isAdmin(token)) return { kind: 'user', user: admin, audiences: [issuer] };
    return await this.#accounts.authenticate(token, audiences);
  }
}
