import { isReason } from '../../../kube/api-error.ts';
import {
  agentLeaseLabel,
  agentLeaseName,
  agentLeaseNamespace,
  agentLeaseSeconds,
} from '../../../kube/stowage/storage-node.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { renewHeartbeat } from '../../../reconcile/leases/heartbeat.ts';

const renewEveryMs = 10_000;
/** After a renewal that failed. */
const retryMs = 2_000;

/**
 * Renews the Lease of a node's agent: while it is renewed, the controller `disks` trusts the reports of the agent. Each write carries the version that was
 * read. A crash after any write changes nothing: the next process renews the same Lease.
 */
export class Heartbeat {
  readonly #context: ControllerContext;
  readonly #nodeName: string;
  readonly #onRecovered: () => void;
  /** When the Lease was last renewed, in monotonic time. */
  #renewedMs: number | undefined;

  constructor(
    context: ControllerContext,
    { nodeName, onRecovered }: { readonly nodeName: string; readonly onRecovered: () => void },
  ) {
    this.#context = context;
    this.#nodeName = nodeName;
    this.#onRecovered = onRecovered;
  }

  /** The name of the Lease; undefined before the first renewal. */
  get leaseName(): string | undefined {
    return this.#renewedMs === undefined ? undefined : agentLeaseName(this.#nodeName);
  }

  /** Whether observers see that the agent runs. An agent without the permission to write Leases never had one that could expire. */
  get isExpired(): boolean {
    if (this.#renewedMs === undefined) return false;
    return this.#context.clock.monotonicMs() - this.#renewedMs >= agentLeaseSeconds * 1000;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, report } = this.#context;
    while (!signal.aborted) {
      let nextMs = renewEveryMs;
      try {
        await this.#renew(signal);
      } catch (error) {
        nextMs = retryMs;
        if (!signal.aborted && !isReason(error, 'Conflict') && !isReason(error, 'AlreadyExists'))
          report({ controller: 'disk-agent', key: agentLeaseName(this.#nodeName), error });
      }
      await clock.sleep(nextMs, signal);
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const sentMs = clock.monotonicMs();
    const heartbeat = {
      lease: { namespace: agentLeaseNamespace, name: agentLeaseName(this.#nodeName) },
      labels: { [agentLeaseLabel]: 'disk-agent' },
      holder: this.#nodeName,
      durationSeconds: agentLeaseSeconds,
    };
    await renewHeartbeat(this.#context, heartbeat, signal);
    const wasMissing = this.#renewedMs === undefined || this.isExpired;
    this.#renewedMs = sentMs;
    if (wasMissing) this.#onRecovered();
  }
}
