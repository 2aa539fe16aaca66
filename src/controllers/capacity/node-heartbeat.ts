import { isReason } from '../../kube/api-error.ts';
import { nodePublisherLeaseName, publisherLeaseLabels } from '../../kube/publisher-heartbeat.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { nodes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { type HeartbeatLease, renewHeartbeat } from '../../reconcile/leases/heartbeat.ts';

/** There may be thousands of nodes, each with a publisher. */
const renewEveryMs = 120_000;
/** Two renewals may fail. */
const durationSeconds = 360;
/** After a renewal that failed. */
const retryMs = 10_000;

const namespace = 'kube-system';

/**
 * Renews the Lease of the publisher for one node. It belongs to the Node: when the Node is deleted, the garbage collector deletes the Lease too. A
 * central publisher needs none: it is elected, or announced, by the Lease of its controller.
 */
export class NodeHeartbeat {
  readonly #context: Pick<ControllerContext, 'cluster' | 'clock' | 'report'>;
  readonly #nodeName: string;

  constructor(context: Pick<ControllerContext, 'cluster' | 'clock' | 'report'>, nodeName: string) {
    this.#context = context;
    this.#nodeName = nodeName;
  }

  /**
   * Renews the Lease for the first time, and returns its `namespace/name`; undefined without the permission to write it: capacity reports must not name a Lease that
   * only an earlier process renewed. Resolves when one of the two is certain, or `signal` aborts.
   */
  async start(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const error = await this.#renew(signal);
      if (error === undefined) return `${namespace}/${nodePublisherLeaseName(this.#nodeName)}`;
      if (isReason(error, 'Forbidden')) return undefined;
      await this.#context.clock.sleep(retryMs, signal);
    }
    return undefined;
  }

  /** After `start` has returned the Lease. */
  async run(signal: AbortSignal): Promise<void> {
    let waitMs = renewEveryMs;
    while (!signal.aborted) {
      await this.#context.clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      waitMs = (await this.#renew(signal)) === undefined ? renewEveryMs : retryMs;
    }
  }

  /** Returns the error, which it has reported. */
  async #renew(signal: AbortSignal): Promise<unknown> {
    try {
      await renewHeartbeat(this.#context, await this.#heartbeat(signal), signal);
      return undefined;
    } catch (error) {
      if (!signal.aborted)
        this.#context.report({ controller: 'capacity', key: nodePublisherLeaseName(this.#nodeName), error });
      return error;
    }
  }

  async #heartbeat(signal: AbortSignal): Promise<HeartbeatLease> {
    const name = this.#nodeName;
    const node = await undefinedIfNotFound(this.#context.cluster.resource(nodes).get({ name }, { signal }));
    const uid = node?.metadata?.uid;
    return {
      lease: { namespace, name: nodePublisherLeaseName(name) },
      labels: publisherLeaseLabels,
      holder: name,
      durationSeconds,
      owner: uid === undefined ? undefined : { apiVersion: apiVersionOf(nodes), kind: nodes.kind, name, uid },
    };
  }
}
