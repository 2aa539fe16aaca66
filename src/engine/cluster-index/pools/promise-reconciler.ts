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
 * Reconciles promises with the cluster: creates them from claims with a selected node, settles them when the claim is bound, and
 * drops them when the pool's published figure includes the volume or the claim is deleted.
 *
 * Every write goes through `setPromise`, so that a rollback undoes promises together with their cause.
 */
export class PromiseReconciler {
  readonly #index: PromiseSources;
  /** Versions of pools, topologies, classes and drivers. When they change, promises without a reservation are assigned again. */
  #assignedState = '';
  #catalogVersion = 0;

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
        for (const { after } of change.difference.pools) if (after !== undefined) this.#poolUpdated(after);
        return;
      case 'StorageClass':
      case 'CSIDriver':
        this.#catalogVersion += 1;
        return;
      default:
    }
  }

  settle(nowMs: number): void {
    const { promises, pools, topologies, nodes } = this.#index;
    const state = `${pools.structureVersion} ${topologies.version} ${nodes.size} ${this.#catalogVersion}`;
    const hasMoved = state !== this.#assignedState;
    if (!hasMoved && promises.settledCount === 0) return;
    this.#setAssignedState(state);
    for (const promised of [...promises.all()]) {
      if (promised.settled !== undefined) this.#expire(promised, nowMs);
      else if (hasMoved && this.#canReassign(promised)) this.assignPool(promised);
    }
  }

  /** A reservation has chosen its pool. Another pool is assigned only if it chose none, or if the pool is deleted. */
  #canReassign({ reservations, poolKey }: CapacityPromise): boolean {
    return reservations === 0 || poolKey === undefined || this.#index.pools.get(poolKey) === undefined;
  }

  /** Assigns the promise to the pool that a restart would choose. */
  assignPool(promised: CapacityPromise): void {
    const claim = this.#index.claims.get(promised.id);
    if (claim === undefined) return;
    const poolKey = this.#poolFor(claim, promised.nodeName);
    if (poolKey !== promised.poolKey) this.#index.setPromise(promised.id, { ...promised, poolKey });
  }

  #setAssignedState(state: string): void {
    const before = this.#assignedState;
    this.#index.recordUndo(() => {
      this.#assignedState = before;
    });
    this.#assignedState = state;
  }

  #claimChanged(before: ClaimRecord | undefined, claim: ClaimRecord | undefined): void {
    const key = (claim ?? before)!.key;
    const known = this.#index.promises.get(key);
    if (known !== undefined && known.claimUid !== claim?.uid) this.#claimDeleted(known);
    if (claim === undefined) return;
    const promised = this.#index.promises.get(key);
    if (claim.isBound) {
      if (promised !== undefined && promised.settled === undefined) this.#settleClaim(claim, promised);
    } else if (isBeingProvisioned(claim)) {
      this.#storeClaim(claim, promised);
    } else if (promised?.isStored === true) {
      // The provisioner removed selected-node because provisioning failed, so the claim needs no promise any more.
      this.#index.setPromise(key, promiseIfNeeded({ ...promised, isStored: false }));
    }
  }

  /**
   * No volume is provisioned for a deleted claim. But an existing volume still uses capacity of the pool, whose figure may not include
   * it yet. So a settled promise continues under an id that a new claim of the same name doesn't use.
   */
  #claimDeleted(promised: CapacityPromise): void {
    this.#index.setPromise(promised.id, undefined);
    if (promised.settled === undefined) return;
    const id = `${promised.id} ${promised.claimUid}`;
    this.#index.setPromise(id, { ...promised, id, reservations: 0 });
  }

  /** The pool may have been added after the claim, so this looks for it once more before the promise waits for the pool's figure. */
  #settleClaim(claim: ClaimRecord, promised: CapacityPromise): void {
    const poolKey = promised.poolKey ?? this.#poolFor(claim, promised.nodeName);
    this.#index.setPromise(claim.key, settledPromise(this.#index.pools, { ...promised, poolKey }));
  }

  /** All fields except the reservations come from the claim. */
  #storeClaim(claim: ClaimRecord, promised: CapacityPromise | undefined): void {
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

  /** The pool that the scheduler named on the claim, or the first by name that the selected node reaches. Depends only on the state, not on its history. */
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
      if (promised?.settled !== undefined && promised.settled.poolVersion !== publicationStamp(pool)) {
        this.#index.setPromise(id, undefined);
      }
    }
  }

  #expire(promised: CapacityPromise, nowMs: number): void {
    const settled = promised.settled!;
    if (settled.sinceMs === undefined) {
      this.#index.setPromise(promised.id, { ...promised, settled: { ...settled, sinceMs: nowMs } });
    } else if (nowMs - settled.sinceMs > this.#index.profile.settledPromiseMaxMs) {
      this.#index.setPromise(promised.id, undefined);
    }
  }
}

/**
 * The promise of a volume that exists now: it waits for the pool's next figure, which includes the volume. A promise without a pool
 * has no figure to wait for, and ends.
 */
export function settledPromise(pools: PoolTable, promised: CapacityPromise): CapacityPromise | undefined {
  if (promised.poolKey === undefined) return undefined;
  const poolVersion = publicationStamp(pools.get(promised.poolKey));
  return { ...promised, isStored: false, settled: { poolVersion, sinceMs: undefined } };
}

/**
 * Distinguishes one publication of a pool from the next. The version of a DriverCapacity changes with any of its pools, so there the
 * pool's own figures are compared.
 */
function publicationStamp(pool: PoolRecord | undefined): string | undefined {
  if (pool === undefined) return undefined;
  if (pool.form === 'CSIStorageCapacity') return pool.version;
  return `${pool.largest?.bytes} ${pool.free?.bytes} ${pool.expiresAtMs}`;
}
