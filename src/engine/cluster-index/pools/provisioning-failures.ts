import type { DriverPoolsRecord } from '../../records/pool-record.ts';

/** One volume that could not be made for one node. */
interface Failure {
  readonly claimUid: string;
  /** Empty where nobody keeps books. */
  readonly poolKey: string;
  readonly count: number;
  readonly untilMs: number;
}

/**
 * Where volumes could not be made a moment ago, so that no pod circles between nodes that each say no. A pair of claim and node is
 * left alone for a while, longer each time, or until the pool that refused has something new to say.
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
    nodes.set(nodeName, { claimUid, poolKey, count, untilMs: nowMs + pauseMs(count) });
    this.#byClaim.set(claimKey, nodes);
  }

  /** The nodes that are avoided now for the claim, each with the end of that. */
  *avoidedNodes(claimKey: string, claimUid: string, nowMs: number): Iterable<readonly [string, number]> {
    for (const [nodeName, failure] of this.#byClaim.get(claimKey) ?? []) {
      if (failure.claimUid === claimUid && failure.untilMs > nowMs) yield [nodeName, failure.untilMs];
    }
  }

  /** The pool has been updated: whoever failed there may try again. How often they failed isn't forgotten. */
  poolChanged(poolKey: string): void {
    this.#poolsChanged((key) => key === poolKey);
  }

  /** The same for a driver that tells of all its pools at once: only those count that it tells something else of. */
  driverChanged(before: DriverPoolsRecord | undefined, after: DriverPoolsRecord | undefined): void {
    if (this.#byClaim.size === 0) return;
    const known = figuresOf(before);
    const now = figuresOf(after);
    this.#poolsChanged((key) => known.get(key) !== now.get(key));
  }

  #poolsChanged(hasChanged: (poolKey: string) => boolean): void {
    for (const nodes of this.#byClaim.values()) {
      for (const [nodeName, failure] of nodes) {
        if (hasChanged(failure.poolKey)) nodes.set(nodeName, { ...failure, untilMs: 0 });
      }
    }
  }

  claimDeleted(claimKey: string): void {
    this.#byClaim.delete(claimKey);
  }
}

/** By pool. */
function figuresOf(pools: DriverPoolsRecord | undefined): ReadonlyMap<string, string> {
  const all = [...(pools?.entries.values() ?? [])].flat();
  return new Map(all.map(({ key, largest, expiresAtMs }) => [key, `${largest?.bytes} ${expiresAtMs}`]));
}

const firstPauseMs = 10_000;
const pauseMaxMs = 300_000;

function pauseMs(count: number): number {
  return Math.min(firstPauseMs * 2 ** (count - 1), pauseMaxMs);
}
