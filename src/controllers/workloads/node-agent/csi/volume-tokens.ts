import type { TokenRequestSpec, TokenRequestStatus } from '../../../../kube/api/authentication.ts';
import type { Pod } from '../../../../kube/api/core.ts';
import type { CSIDriver } from '../../../../kube/api/storage.ts';
import type { ObjectKey } from '../../../../kube/resource.ts';
import type { Clock } from '../../../../runtime/clock.ts';

/** Issues a token for a service account, as a POST to its subresource `token` does. */
export type RequestToken = (account: ObjectKey, spec: TokenRequestSpec) => Promise<TokenRequestStatus>;

/** As a kubelet renews tokens: when four fifths of their lifetime are over, and at least every day. */
const renewedAt = 0.8;
const ageMaxMs = 24 * 3600_000;

interface IssuedToken {
  readonly status: TokenRequestStatus;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** The tokens of pods' service accounts that drivers ask for with `tokenRequests`. Each is used until it has to be renewed. */
export class VolumeTokens {
  readonly #requestToken: RequestToken | undefined;
  readonly #clock: Clock;
  readonly #issued = new Map<string, IssuedToken>();

  constructor(requestToken: RequestToken | undefined, clock: Clock) {
    this.#requestToken = requestToken;
    this.#clock = clock;
  }

  /** The value of `csi.storage.k8s.io/serviceAccount.tokens`: tokens by audience, as JSON. Undefined if the driver asks for none. */
  async of(pod: Pod, csiDriver: CSIDriver | undefined): Promise<string | undefined> {
    const requests = csiDriver?.spec?.tokenRequests ?? [];
    if (requests.length === 0) return undefined;
    const tokens: Record<string, TokenRequestStatus> = {};
    for (const { audience = '', expirationSeconds } of requests)
      tokens[audience] = await this.#token(pod, audience, expirationSeconds);
    return JSON.stringify(tokens);
  }

  async #token(
    pod: Pod,
    audience: string,
    expirationSeconds: TokenRequestSpec['expirationSeconds'],
  ): Promise<TokenRequestStatus> {
    const nowMs = this.#clock.nowMs();
    for (const [key, { expiresAtMs }] of this.#issued) if (expiresAtMs <= nowMs) this.#issued.delete(key);
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    const key = JSON.stringify([uid, audience, String(expirationSeconds)]);
    const known = this.#issued.get(key);
    if (known !== undefined && nowMs < known.renewAtMs) return known.status;
    if (this.#requestToken === undefined)
      throw new Error('this API server issues no service account tokens, which the CSIDriver asks for');
    const account = { namespace, name: pod.spec?.serviceAccountName || 'default' };
    const { token, expirationTimestamp } = await this.#requestToken(account, {
      audiences: audience === '' ? [] : [audience],
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    });
    const status = { token: token ?? '', expirationTimestamp: expirationTimestamp ?? null };
    const expiresAtMs = Date.parse(expirationTimestamp ?? '') || nowMs;
    const renewAtMs = nowMs + Math.min(ageMaxMs, (expiresAtMs - nowMs) * renewedAt);
    this.#issued.set(key, { status, renewAtMs, expiresAtMs });
    return status;
  }
}
