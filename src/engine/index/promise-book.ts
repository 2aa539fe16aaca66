import type { ClaimRecord } from '../records/claim-record.ts';
import type { Size } from '../size.ts';
import type { PoolTable } from './pool-table.ts';

/**
 * Bytes of a pool that a claim in flight will take.
 *
 * A promise lives while anything stands behind it: a reservation of ours, the claim's own selected-node annotation (the
 * durable record, from which it is rebuilt after a restart), or, once the claim is bound, the pool's number being older
 * than the volume. So it may be counted twice for a moment, never not at all.
 */
export interface Promised {
  readonly claimKey: string;
  readonly claimUid: string;
  /** Where the claim's pod is to run. */
  readonly nodeName: string;
  readonly size: Size;
  /** Undefined while no pool is known that the claim could be served from. */
  readonly poolKey: string | undefined;
  readonly reservations: number;
  /** The claim says so itself: it has a selected node and no volume yet. */
  readonly isStored: boolean;
  /** The claim is bound: the pool's next update will include it. */
  readonly settled: Settled | undefined;
}

interface Settled {
  readonly poolVersion: string | undefined;
  /** When a plan first saw it settled; drivers whose numbers never move are waited for only so long. */
  readonly sinceMs: number | undefined;
}

/** The promises by claim, mirrored into the pool table's sums. */
export class PromiseBook {
  readonly #pools: PoolTable;
  readonly #byClaim = new Map<string, Promised>();
  #settledCount = 0;

  constructor(pools: PoolTable) {
    this.#pools = pools;
  }

  get settledCount(): number {
    return this.#settledCount;
  }

  get(claimKey: string): Promised | undefined {
    return this.#byClaim.get(claimKey);
  }

  all(): Iterable<Promised> {
    return this.#byClaim.values();
  }

  set(claimKey: string, promised: Promised | undefined): void {
    const before = this.#byClaim.get(claimKey);
    if (before?.settled !== undefined) this.#settledCount -= 1;
    if (promised?.settled !== undefined) this.#settledCount += 1;
    if (before?.poolKey !== undefined) this.#pools.unpromise(before.poolKey, claimKey);
    if (promised === undefined) {
      this.#byClaim.delete(claimKey);
      return;
    }
    this.#byClaim.set(claimKey, promised);
    if (promised.poolKey !== undefined) this.#pools.promise(promised.poolKey, claimKey, promised.size);
  }
}

/** What remains of a promise when nothing may stand behind it any more. */
export function keptIfBacked(promised: Promised): Promised | undefined {
  const isBacked = promised.reservations > 0 || promised.isStored || promised.settled !== undefined;
  return isBacked ? promised : undefined;
}

/** The scheduler has spoken and the provisioner has not answered yet. */
export function isBeingProvisioned(claim: ClaimRecord): boolean {
  return claim.selectedNode !== '' && !claim.isBound;
}
