import { addTo, removeFrom, setOrDelete } from '../../maps.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import type { PoolTable } from './pool-table.ts';

/**
 * Capacity of a pool for a volume that the pool's published capacity report may not include yet.
 *
 * A promise exists as long as one of these requires it: a reservation of this process; the durable record, from which the promise is
 * rebuilt after a restart (the claim's selected-node annotation, or the assigned pod of an inline volume); or, once the volume exists, a
 * report that was measured before. The bytes are deducted unless the report includes the volume, so never twice and never not at all.
 */
export interface CapacityPromise {
  /**
   * The claim's key; `namespace/pod:volume` for an inline volume; `expansionId` or `expandedId` for the growth of a claim's volume; or, if the
   * claim is deleted, an id that no claim can have.
   */
  readonly id: string;
  /** Empty for an inline volume. */
  readonly claimUid: string;
  /** The node of the claim's pod. */
  readonly nodeName: string;
  readonly size: Size;
  /** Undefined while no known pool can provision the claim. */
  readonly poolKey: string | undefined;
  readonly reservations: number;
  /** The durable record exists: the claim has a selected node and no volume yet, or the pod of the inline volume has its node. */
  readonly isStored: boolean;
  /** Set once the claim is bound, or the pod of the inline volume has its node. */
  readonly settled: Settled | undefined;
  /** The volume existed at this time at the latest; undefined if that is not known yet. */
  readonly existsAtMs?: number | undefined;
  /** The pool's report was measured after the volume existed, so nothing is deducted. The promise is kept for a while: a publisher may write an older report. */
  readonly isInCapacityReport?: boolean;
  /** The growth of an expansion that is larger than the pool's reported capacity: the driver can't do it, so nothing is deducted. */
  readonly isTooLarge?: boolean;
  /** The size of the volume after the expansion, for a promise of one. */
  readonly targetBytes?: number;
  /** Its class spreads the volumes of this group over drives. */
  readonly spreadGroup?: string | undefined;
}

interface Settled {
  readonly poolVersion: string | undefined;
  /** When a plan first saw the promise settled. It expires some time later, because the reports of some drivers never change. */
  readonly sinceMs: number | undefined;
}

/** The promises. Each change also updates the sums of the pool table. */
export class PromiseTable {
  readonly #pools: PoolTable;
  readonly #byId = new Map<string, CapacityPromise>();
  readonly #byPool = new Map<string, Set<string>>();
  /** Settled promises that no plan has seen yet. */
  #unseenCount = 0;
  /** Pools with a promise that was removed, reduced or moved since the last reset. */
  #freedPools = new Set<string>();
  /** The same since `startChange`. */
  readonly freedInChange = new Set<string>();

  constructor(pools: PoolTable) {
    this.#pools = pools;
  }

  get unseenCount(): number {
    return this.#unseenCount;
  }

  /** The ids of all promises of the pool, also of those that its report includes. */
  ofPool(poolKey: string): Iterable<string> {
    return this.#byPool.get(poolKey) ?? [];
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

  /** Whether the pool was freed since the last reset, before the change. */
  wasFreed(poolKey: string): boolean {
    return this.#freedPools.has(poolKey) && !this.freedInChange.has(poolKey);
  }

  /** The change freed promises of the pool and used as many bytes of it. */
  dropFreed(poolKey: string): void {
    this.#freedPools.delete(poolKey);
    this.freedInChange.delete(poolKey);
  }

  get(id: string): CapacityPromise | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<CapacityPromise> {
    return this.#byId.values();
  }

  set(id: string, promised: CapacityPromise | undefined): void {
    const before = this.#byId.get(id);
    if (isUnseen(before)) this.#unseenCount -= 1;
    if (isUnseen(promised)) this.#unseenCount += 1;
    setOrDelete(this.#byId, id, promised);
    if (before?.poolKey !== undefined) {
      removeFrom(this.#byPool, before.poolKey, id);
      if (isDeducted(before)) this.#pools.removePromise(before.poolKey, id, before.spreadGroup);
    }
    if (promised?.poolKey !== undefined) {
      addTo(this.#byPool, promised.poolKey, id);
      if (isDeducted(promised))
        this.#pools.addPromise(promised.poolKey, id, promised.size, promised.spreadGroup);
    }
    if (before !== undefined && isDeducted(before)) this.#markFreed(before, promised);
  }

  /** A promise that moves marks both pools: cached answers that relied on the new pool are stale. */
  #markFreed(before: CapacityPromise, after: CapacityPromise | undefined): void {
    const isSmaller =
      after !== undefined &&
      (!isDeducted(after) ||
        compareSizes(after.size, before.size) < 0 ||
        after.spreadGroup !== before.spreadGroup);
    if (after?.poolKey === before.poolKey && !isSmaller) return;
    for (const key of [before.poolKey, after?.poolKey]) {
      if (key === undefined) continue;
      this.#freedPools.add(key);
      this.freedInChange.add(key);
    }
  }
}

/** Whether the bytes are deducted from the pool. */
export function isDeducted({ isInCapacityReport, isTooLarge }: CapacityPromise): boolean {
  return isInCapacityReport !== true && isTooLarge !== true;
}

function isUnseen(promised: CapacityPromise | undefined): boolean {
  return promised?.settled !== undefined && promised.settled.sinceMs === undefined;
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
