import type { ClaimRecord } from '../records/claim-record.ts';
import type { ClassRecord } from '../records/class-record.ts';
import type { DriverRecord } from '../records/driver-record.ts';
import type { PoolRecord } from '../records/pool-record.ts';
import { zeroSize } from '../size.ts';
import type { Change, ReleaseChange } from './change.ts';
import type { ClaimTable } from './claim-table.ts';
import type { NodeTable } from './node-table.ts';
import { lookUpPools } from './pool-lookup.ts';
import type { PoolTable } from './pool-table.ts';
import type { Profile } from './profile.ts';
import { isBeingProvisioned, keptIfBacked, type PromiseBook, type Promised } from './promise-book.ts';
import type { TopologyTable } from './topology-table.ts';

interface KeeperIndex {
  readonly profile: Profile;
  readonly nodes: NodeTable;
  readonly topologies: TopologyTable;
  readonly claims: ClaimTable;
  readonly pools: PoolTable;
  readonly promises: PromiseBook;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
  setPromise(id: string, promised: Promised | undefined): void;
  recordUndo(undo: () => void): void;
}

/**
 * Keeps promises in step with what the cluster says: makes them from claims with a selected node, settles them when the
 * claim is bound, and drops them when the pool's own number includes the volume or the claim is gone.
 *
 * Every write goes through `setPromise`, so that a rollback takes promises back together with what caused them.
 */
export class PromiseKeeper {
  readonly #index: KeeperIndex;
  /** Of pools, reach, classes and drivers together; a promise without a reservation is placed anew when it moves. */
  #placedAt = '';
  #catalogueVersion = 0;

  constructor(index: KeeperIndex) {
    this.#index = index;
  }

  changed(change: Change): void {
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

  settle(nowMs: number): ReleaseChange | undefined {
    const { promises, pools, topologies, nodes } = this.#index;
    const state = `${pools.structure} ${topologies.version} ${nodes.size} ${this.#catalogueVersion}`;
    const hasMoved = state !== this.#placedAt;
    if (!hasMoved && promises.settledCount === 0) return undefined;
    this.#setPlacedAt(state);
    const released: PoolRecord[] = [];
    for (const promised of [...promises.all()]) {
      if (promised.settled !== undefined) released.push(...this.#age(promised, nowMs));
      else if (hasMoved && promised.reservations === 0) this.#place(promised);
    }
    return released.length === 0
      ? undefined
      : { kind: 'Release', volumes: [], pools: released, nodeName: '' };
  }

  /** What has lost its reservation stands where a restart would put it; the next `settle` sees to that. */
  placeAnew(): void {
    this.#setPlacedAt('');
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
    if (claim === undefined || (known !== undefined && known.claimUid !== claim.uid)) {
      if (known !== undefined) this.#index.setPromise(key, undefined);
      if (claim === undefined) return;
    }
    const promised = this.#index.promises.get(key);
    if (claim.isBound) {
      if (promised !== undefined && promised.settled === undefined) this.#settleClaim(claim, promised);
    } else if (isBeingProvisioned(claim)) {
      this.#store(claim, promised);
    } else if (promised?.isStored === true) {
      // The provisioner took selected-node away: it could not, and nothing is promised for it any more.
      this.#index.setPromise(key, keptIfBacked({ ...promised, isStored: false }));
    }
  }

  /** The pool may have come after the claim; it is looked for once more before the promise starts to wait for its number. */
  #settleClaim(claim: ClaimRecord, promised: Promised): void {
    const poolKey = promised.poolKey ?? this.#poolFor(claim, promised.nodeName);
    this.#index.setPromise(claim.key, settledPromise(this.#index.pools, { ...promised, poolKey }));
  }

  /** Everything but who has reserved it is the claim's own word. */
  #store(claim: ClaimRecord, promised: Promised | undefined): void {
    const reservations = promised?.reservations ?? 0;
    this.#index.setPromise(claim.key, {
      claimKey: claim.key,
      claimUid: claim.uid,
      nodeName: claim.selectedNode,
      size: claim.request ?? zeroSize,
      poolKey: reservations > 0 ? promised?.poolKey : this.#poolFor(claim, claim.selectedNode),
      reservations,
      isStored: true,
      settled: undefined,
    });
  }

  #place(promised: Promised): void {
    const claim = this.#index.claims.get(promised.claimKey);
    if (claim === undefined) return;
    const poolKey = this.#poolFor(claim, promised.nodeName);
    if (poolKey !== promised.poolKey) this.#index.setPromise(promised.claimKey, { ...promised, poolKey });
  }

  /** The pool that the scheduler named, or the first by name that the selected node reaches: a function of the state alone. */
  #poolFor(claim: ClaimRecord, nodeName: string): string | undefined {
    const node = this.#index.nodes.row(nodeName);
    const storageClass = this.#index.classes.get(claim.className);
    if (node === undefined || storageClass === undefined) return undefined;
    const found = lookUpPools(this.#index, storageClass.provisioner, claim.className);
    if (found.kind !== 'pools') return undefined;
    const { pools } = this.#index;
    const reachable = found.entry.rows
      .filter((row) => pools.isReachable(row, node))
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

  /** The pool that has room again, if the promise has waited long enough. */
  #age(promised: Promised, nowMs: number): PoolRecord[] {
    const settled = promised.settled!;
    if (settled.sinceMs === undefined) {
      this.#index.setPromise(promised.claimKey, { ...promised, settled: { ...settled, sinceMs: nowMs } });
      return [];
    }
    if (nowMs - settled.sinceMs <= this.#index.profile.settledPromiseMaxMs) return [];
    this.#index.setPromise(promised.claimKey, undefined);
    const pool = this.#index.pools.get(promised.poolKey ?? '');
    return pool === undefined ? [] : [pool];
  }
}

/**
 * The volume is there: the promise waits for the pool's next number, which includes it. Without a pool there is none to wait
 * for.
 */
export function settledPromise(pools: PoolTable, promised: Promised): Promised | undefined {
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
