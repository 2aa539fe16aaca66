import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { zeroSize } from '../../size.ts';
import type { ClusterChange } from '../cluster-change.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { TopologyTable } from '../nodes/topology-table.ts';
import type { Profile } from '../profile.ts';
import type { ClaimTable } from '../volumes/claim-table.ts';
import { lookUpPools } from './pool-lookup.ts';
import type { PoolTable } from './pool-table.ts';
import {
  type CapacityPromise,
  isBeingProvisioned,
  type PromiseTable,
  promiseIfNeeded,
} from './promise-table.ts';

interface PromiseSources {
  readonly profile: Profile;
  readonly nodes: NodeTable;
  readonly topologies: TopologyTable;
  readonly claims: ClaimTable;
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
  setPromise(id: string, promised: CapacityPromise | undefined): void;
  recordUndo(undo: () => void): void;
}

/**
 * Keeps promises in step with what the cluster says: makes them from claims with a selected node, settles them when the
 * claim is bound, and drops them when the pool's own number includes the volume or the claim is gone.
 *
 * Every write goes through `setPromise`, so that a rollback takes promises back together with what caused them.
 */
export class PromiseReconciler {
  readonly #index: PromiseSources;
  /** Of pools, reach, classes and drivers together; a promise without a reservation is placed anew when it moves. */
  #placedAt = '';
  #catalogueVersion = 0;

  constructor(index: PromiseSources) {
    this.#index = index;
  }

  changed(change: ClusterChange): void {
    switch (change.kind) {
      case 'PersistentVolumeClaim':
        this.#claimChanged(change.before, change.after);
        return;
      case 'CSIStorageCapacity':
        if (change.after !== undefined) this.#poolUpdated(change.after);
        return;
      case 'DriverCapacity':
        for (const pools of change.after?.entries.values() ?? [])
          for (const pool of pools) this.#poolUpdated(pool);
        this.#catalogueVersion += 1;
        return;
      case 'StorageClass':
      case 'CSIDriver':
        this.#catalogueVersion += 1;
        return;
      default:
    }
  }

  settle(nowMs: number): void {
    const { promises, pools, topologies, nodes } = this.#index;
    const state = `${pools.structureVersion} ${topologies.version} ${nodes.size} ${this.#catalogueVersion}`;
    const hasMoved = state !== this.#placedAt;
    if (!hasMoved && promises.settledCount === 0) return;
    this.#setPlacedAt(state);
    for (const promised of [...promises.all()]) {
      if (promised.settled !== undefined) this.#age(promised, nowMs);
      else if (hasMoved && this.#mayBePlaced(promised)) this.place(promised);
    }
  }

  /** A reservation has chosen its pool; only if there is none, or it is gone, another one is looked for. */
  #mayBePlaced({ reservations, poolKey }: CapacityPromise): boolean {
    return reservations === 0 || poolKey === undefined || this.#index.pools.get(poolKey) === undefined;
  }

  /** Puts a promise where a restart would put it. */
  place(promised: CapacityPromise): void {
    const claim = this.#index.claims.get(promised.id);
    if (claim === undefined) return;
    const poolKey = this.#poolFor(claim, promised.nodeName);
    if (poolKey !== promised.poolKey) this.#index.setPromise(promised.id, { ...promised, poolKey });
  }

  #setPlacedAt(state: string): void {
    const before = this.#placedAt;
    this.#index.recordUndo(() => {
      this.#placedAt = before;
    });
    this.#placedAt = state;
  }

  #claimChanged(before: ClaimRecord | undefined, claim: ClaimRecord | undefined): void {
    const key = (claim ?? before)!.key;
    const known = this.#index.promises.get(key);
    if (known !== undefined && known.claimUid !== claim?.uid) this.#claimGone(known);
    if (claim === undefined) return;
    const promised = this.#index.promises.get(key);
    if (claim.isBound) {
      if (promised !== undefined && promised.settled === undefined) this.#settleClaim(claim, promised);
    } else if (isBeingProvisioned(claim)) {
      this.#store(claim, promised);
    } else if (promised?.isStored === true) {
      // The provisioner took selected-node away: it could not, and nothing is promised for it any more.
      this.#index.setPromise(key, promiseIfNeeded({ ...promised, isStored: false }));
    }
  }

  /**
   * Nothing is made for a claim that is gone; but a volume that has been made still fills the pool, whose number may not say so
   * yet. That promise goes on under a name that a new claim of the same name doesn't take.
   */
  #claimGone(promised: CapacityPromise): void {
    this.#index.setPromise(promised.id, undefined);
    if (promised.settled === undefined) return;
    const id = `${promised.id} ${promised.claimUid}`;
    this.#index.setPromise(id, { ...promised, id, reservations: 0 });
  }

  /** The pool may have come after the claim; it is looked for once more before the promise starts to wait for its number. */
  #settleClaim(claim: ClaimRecord, promised: CapacityPromise): void {
    const poolKey = promised.poolKey ?? this.#poolFor(claim, promised.nodeName);
    this.#index.setPromise(claim.key, settledPromise(this.#index.pools, { ...promised, poolKey }));
  }

  /** Everything but who has reserved it is the claim's own word. */
  #store(claim: ClaimRecord, promised: CapacityPromise | undefined): void {
    const reservations = promised?.reservations ?? 0;
    this.#index.setPromise(claim.key, {
      id: claim.key,
      claimUid: claim.uid,
      nodeName: claim.selectedNode,
      size: claim.request ?? zeroSize,
      poolKey: reservations > 0 ? promised?.poolKey : this.#poolFor(claim, claim.selectedNode),
      reservations,
      isStored: true,
      settled: undefined,
    });
  }

  /** The pool that the scheduler named, or the first by name that the selected node reaches: a function of the state alone. */
  #poolFor(claim: ClaimRecord, nodeName: string): string | undefined {
    const node = this.#index.nodes.row(nodeName);
    const storageClass = this.#index.classes.get(claim.className);
    if (node === undefined || storageClass === undefined) return undefined;
    const found = lookUpPools(this.#index, storageClass.provisioner, claim.className);
    if (found.kind !== 'pools') return undefined;
    const { pools, nodes } = this.#index;
    const reachable = pools
      .partitionFor(found.entry, nodes.rowCount)
      .itemsAt(node)
      .map((row) => pools.record(row));
    return (reachable.find((pool) => pool.name === claim.poolHint) ?? reachable[0])?.key;
  }

  #poolUpdated(pool: PoolRecord): void {
    for (const id of [...this.#index.pools.promisesOf(pool.key).keys()]) {
      const promised = this.#index.promises.get(id);
      if (promised?.settled !== undefined && promised.settled.poolVersion !== poolStamp(pool)) {
        this.#index.setPromise(id, undefined);
      }
    }
  }

  #age(promised: CapacityPromise, nowMs: number): void {
    const settled = promised.settled!;
    if (settled.sinceMs === undefined) {
      this.#index.setPromise(promised.id, { ...promised, settled: { ...settled, sinceMs: nowMs } });
    } else if (nowMs - settled.sinceMs > this.#index.profile.settledPromiseMaxMs) {
      this.#index.setPromise(promised.id, undefined);
    }
  }
}

/**
 * The volume is there: the promise waits for the pool's next number, which includes it. Without a pool there is none to wait
 * for.
 */
export function settledPromise(pools: PoolTable, promised: CapacityPromise): CapacityPromise | undefined {
  if (promised.poolKey === undefined) return undefined;
  const poolVersion = poolStamp(pools.get(promised.poolKey));
  return { ...promised, isStored: false, settled: { poolVersion, sinceMs: undefined } };
}

/**
 * What tells one publication of a pool from the next. A DriverCapacity's version moves with any of its pools, so there
 * the pool's own numbers are compared.
 */
function poolStamp(pool: PoolRecord | undefined): string | undefined {
  if (pool === undefined) return undefined;
  if (pool.form === 'CSIStorageCapacity') return pool.version;
  return `${pool.largest?.bytes} ${pool.free?.bytes} ${pool.expiresAtMs}`;
}
