import type { ClaimRecord } from '../../records/claim-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import { setOrDelete } from '../primitives/maps.ts';
import type { PoolTable } from './pool-table.ts';

/**
 * Bytes of a pool that a claim in flight will take.
 *
 * A promise lives while anything stands behind it: a reservation of ours, the claim's own selected-node annotation (the
 * durable record, from which it is rebuilt after a restart), or, once the claim is bound, the pool's number being older
 * than the volume. So it may be counted twice for a moment, never not at all.
 */
export interface CapacityPromise {
  /** The claim's key; or, for what has no claim any more or never had one, a name that no claim has. */
  readonly id: string;
  /** Empty for an inline volume. */
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

/** The promises, mirrored into the pool table's sums. */
export class PromiseTable {
  readonly #pools: PoolTable;
  readonly #byId = new Map<string, CapacityPromise>();
  #settledCount = 0;
  /** Pools that have had a promise less, a smaller one, or one moved, since somebody last asked. */
  #freedPools = new Set<string>();
  #timesFreed = 0;

  constructor(pools: PoolTable) {
    this.#pools = pools;
  }

  get settledCount(): number {
    return this.#settledCount;
  }

  /** Rises with every promise that is given up, moved or made smaller. */
  get releaseCount(): number {
    return this.#timesFreed;
  }

  get freedPools(): ReadonlySet<string> {
    return this.#freedPools;
  }

  /** Starts over, or goes back to what it was: a rollback frees nothing. */
  setFreedPools(pools: Iterable<string>): void {
    this.#freedPools = new Set(pools);
  }

  get(id: string): CapacityPromise | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<CapacityPromise> {
    return this.#byId.values();
  }

  set(id: string, promised: CapacityPromise | undefined): void {
    const before = this.#byId.get(id);
    if (before?.settled !== undefined) this.#settledCount -= 1;
    if (promised?.settled !== undefined) this.#settledCount += 1;
    setOrDelete(this.#byId, id, promised);
    if (before?.poolKey !== undefined) this.#pools.removePromise(before.poolKey, id);
    if (promised?.poolKey !== undefined) this.#pools.addPromise(promised.poolKey, id, promised.size);
    if (before !== undefined) this.#noteFreed(before, promised);
  }

  /** A promise that moves is told of at both ends: answers that counted on the new pool are stale. */
  #noteFreed(before: CapacityPromise, after: CapacityPromise | undefined): void {
    const isSmaller = after !== undefined && compareSizes(after.size, before.size) < 0;
    if (after?.poolKey === before.poolKey && !isSmaller) return;
    for (const key of [before.poolKey, after?.poolKey]) if (key !== undefined) this.#freedPools.add(key);
    this.#timesFreed += 1;
  }
}

/** What remains of a promise when nothing may stand behind it any more. */
export function promiseIfNeeded(promised: CapacityPromise): CapacityPromise | undefined {
  const isBacked = promised.reservations > 0 || promised.isStored || promised.settled !== undefined;
  return isBacked ? promised : undefined;
}

/** The scheduler has spoken and the provisioner has not answered yet. */
export function isBeingProvisioned(claim: ClaimRecord): boolean {
  return claim.selectedNode !== '' && !claim.isBound;
}
