import type { AnswerOverride, ClusterCall } from '../cluster/intercepted-cluster.ts';
import type { Lease } from '../kube/api/coordination.ts';

/**
 * Answers the renewals of Leases in place of the API server, once all faults have ended and all elections have settled. From then on every
 * renewal succeeds, and every candidate reads a Lease that has just been renewed. Renewals would be most of the requests of a run.
 *
 * Only a renewal of the version that the server has is answered here, and it changes no version. So the server still decides about
 * everything else: a release, a new holder, a Lease that is created.
 */
export class QuietLeases {
  readonly #leases = new Map<string, Lease>();
  #isQuiet = false;

  start(): void {
    this.#isQuiet = true;
  }

  readonly answer = (call: ClusterCall): AnswerOverride | undefined => {
    if (!this.#isQuiet || call.resource.plural !== 'leases') return undefined;
    if (call.verb === 'update') return { value: this.#update(call, call.body as Lease) };
    const known = this.#leases.get(call.name);
    return call.verb === 'get' && known !== undefined ? { value: known } : undefined;
  };

  async #update(call: ClusterCall, lease: Lease): Promise<Lease> {
    const known = this.#leases.get(call.name);
    const isRenewal =
      known !== undefined &&
      known.spec?.holderIdentity === lease.spec?.holderIdentity &&
      known.metadata?.resourceVersion === lease.metadata?.resourceVersion;
    const stored = isRenewal ? lease : ((await call.send()) as Lease);
    this.#leases.set(call.name, stored);
    return stored;
  }
}
