import { labels } from '../../../kube/well-known.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { type Provisioner, refusedOutcome } from '../../provisioner/provisioner.ts';

/** The outcome of a volume: it is created for the node, or for another one, is refused, or waits for `continue`. */
export type FakeProvisionerOutcome = 'creates' | 'refuses' | 'waits' | { readonly elsewhere: string };

/** A provisioner of local disks whose outcomes a test controls. Its storage class has to name it. */
export class FakeProvisioner {
  static readonly provisionerName = 'fake.example.com';
  /** `CLAIM NODE` for each request. */
  readonly requests: string[] = [];
  outcome: (claim: string, node: string) => FakeProvisionerOutcome = () => 'creates';
  readonly #plans = new Map<string, { readonly claim: string; readonly node: string }>();
  #held: (() => void)[] = [];

  /** Creates the volumes that wait, and all further ones. */
  continue(): void {
    this.outcome = () => 'creates';
    for (const go of this.#held) go();
    this.#held = [];
  }

  get provisioner(): Provisioner {
    return {
      name: FakeProvisioner.provisionerName,
      plan: ({ asset, claim, selectedNode }) => {
        const request = { claim: claim.metadata?.name ?? '', node: selectedNode?.metadata?.name ?? '' };
        this.#plans.set(asset.name, request);
        const answer = this.outcome(request.claim, request.node);
        const host = typeof answer === 'object' ? answer.elsewhere : request.node;
        const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [host] }];
        const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
        return {
          kind: 'planned',
          plan: { asset, nodeAffinity, source: { local: { path: `/mnt/${request.claim}` } } },
        };
      },
      create: async (plan, signal) => {
        const { claim, node } = this.#plans.get(plan.asset.name)!;
        this.requests.push(`${claim} ${node}`);
        const answer = this.outcome(claim, node);
        if (answer === 'refuses') return refusedOutcome('out of disks');
        if (answer === 'waits') await this.#hold(signal);
        return { kind: 'created', volume: plan };
      },
      delete: async () => {},
    };
  }

  async #hold(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#held.push(resolve);
      if (signal.aborted) resolve();
      else onAbort(signal, resolve);
    });
    signal.throwIfAborted();
  }
}
