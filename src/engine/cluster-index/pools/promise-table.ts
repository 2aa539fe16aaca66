import type { ClaimRecord } from '../../records/claim-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import { setOrDelete } from '../primitives/maps.ts';
import type { PoolTable } from './pool-table.ts';

/**
 * Capacity of a pool that is reserved for a claim in flight.
 *
 * A promise exists as long as one of these requires it: a reservation of this process; the claim's selected-node annotation (the
 * durable record, from which the promise is rebuilt after a restart); or, once the claim is bound, a pool figure that is older than
 * the volume. So the bytes may be counted twice for a moment, but are never uncounted.
 */
export interface CapacityPromise {
  /** The claim's key; or, if the claim is deleted or the volume is inline, an id that no claim can have. */
  readonly id: string;
  /** Empty for an inline volume. */
  readonly claimUid: string;
  /** The node of the claim's pod. */
  readonly nodeName: string;
  readonly size: Size;
  /** Undefined while no known pool can provision the claim. */
  readonly poolKey: string | undefined;
  readonly reservations: number;
  /** The claim object is the durable record: it has a selected node and no volume yet. */
  readonly isStored: boolean;
  /** Set once the claim is bound: the next update of the pool includes the volume. */
  readonly settled: Settled | undefined;
}

interface Settled {
  readonly poolVersion: string | undefined;
  /** When a plan first saw the promise settled. It expires some time later, because the figures of some drivers never change. */
  readonly sinceMs: number | undefined;
}

/** The promises. Each change also updates the sums of the pool table. */
export class PromiseTable {
  readonly #pools: PoolTable;
  readonly #byId = new Map<string, CapacityPromise>();
  #settledCount = 0;
  /** Pools with a promise that was removed, reduced or moved since the last reset. */
  #freedPools = new Set<string>();
  /** The same since `startChange`. */
  readonly freedInChange = new Set<string>();

  constructor(pools: PoolTable) {
    this.#pools = pools;
  }

  get settledCount(): number {
    return this.#settledCount;
  }

  startChange(): void {
    this.freedInChange.clear();
  }

  get freedPools(): ReadonlySet<string> {
    return this.#freedPools;
  }

  /** Resets the set, or restores it on rollback: a rollback frees nothing. */
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
    if (before !== undefined) this.#markFreed(before, promised);
  }

  /** A promise that moves marks both pools: cached answers that relied on the new pool are stale. */
  #markFreed(before: CapacityPromise, after: CapacityPromise | undefined): void {
    const isSmaller = after !== undefined && compareSizes(after.size, before.size) < 0;
    if (after?.poolKey === before.poolKey && !isSmaller) return;
    for (const key of [before.poolKey, after?.poolKey]) {
      if (key === undefined) continue;
      this.#freedPools.add(key);
      this.freedInChange.add(key);
    }
  }
}

/** The promise if something still requires it, else undefined. */
export function promiseIfNeeded(promised: CapacityPromise): CapacityPromise | undefined {
  const isNeeded = promised.reservations > 0 || promised.isStored || promised.settled !== undefined;
  return isNeeded ? promised : undefined;
}

/** A scheduler has selected the node, and the provisioner has not bound the claim yet. */
export function isBeingProvisioned(claim: ClaimRecord): boolean {
  return claim.selectedNode !== '' && !claim.isBound;
}
