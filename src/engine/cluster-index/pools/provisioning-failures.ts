/** A failed attempt to provision a claim's volume for a node. */
interface Failure {
  readonly claimUid: string;
  /** Empty if the driver publishes no capacity. */
  readonly poolKey: string;
  readonly count: number;
  readonly untilMs: number;
}

/**
 * The recent provisioning failures, so that no pod alternates between nodes that all fail. Plans avoid a pair of claim and node with
 * exponential backoff, or until the pool publishes new capacity reports.
 */
export class ProvisioningFailures {
  readonly #byClaim = new Map<string, Map<string, Failure>>();

  record(failure: {
    readonly claimKey: string;
    readonly claimUid: string;
    readonly nodeName: string;
    readonly poolKey: string;
    readonly nowMs: number;
  }): void {
    const { claimKey, claimUid, nodeName, poolKey, nowMs } = failure;
    const nodes = this.#byClaim.get(claimKey) ?? new Map<string, Failure>();
    const known = nodes.get(nodeName);
    const count = known?.claimUid === claimUid ? known.count + 1 : 1;
    nodes.set(nodeName, { claimUid, poolKey, count, untilMs: nowMs + backoffMs(count) });
    this.#byClaim.set(claimKey, nodes);
  }

  /** The nodes to avoid for the claim now, each with the time when its backoff ends. */
  *avoidedNodes(claimKey: string, claimUid: string, nowMs: number): Iterable<readonly [string, number]> {
    for (const [nodeName, failure] of this.#byClaim.get(claimKey) ?? []) {
      if (failure.claimUid === claimUid && failure.untilMs > nowMs) yield [nodeName, failure.untilMs];
    }
  }

  /** The pool's reports were updated, so its claims may be tried again. The failure counts are kept. */
  poolChanged(poolKey: string): void {
    for (const nodes of this.#byClaim.values()) {
      for (const [nodeName, failure] of nodes) {
        if (failure.poolKey === poolKey) nodes.set(nodeName, { ...failure, untilMs: 0 });
      }
    }
  }

  claimDeleted(claimKey: string): void {
    this.#byClaim.delete(claimKey);
  }
}

const initialBackoffMs = 10_000;
const backoffMaxMs = 300_000;

function backoffMs(count: number): number {
  return Math.min(initialBackoffMs * 2 ** (count - 1), backoffMaxMs);
}
