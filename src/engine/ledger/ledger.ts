import { assert } from '../../runtime/assert.ts';
import type { ReleaseChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type CapacityPromise, promiseIfNeeded } from '../cluster-index/pools/promise-table.ts';
import { inFlightPolicy } from '../cluster-index/profile.ts';
import { addTo, removeFrom, setOrDelete } from '../maps.ts';
import type { Placement } from '../plan.ts';
import type { PoolRecord } from '../records/pool-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';
import type { PoolChoice } from '../rules/framework/decisions.ts';
import { compareSizes, type Size, zeroSize } from '../size.ts';
import { findConflicts, type ReservationConflict, unconfirmedParts } from './conflicts.ts';

/** The resources that are reserved for one pod until the cluster's objects show the placement. */
export interface Reservation {
  readonly podKey: string;
  readonly placement: Placement;
}

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  /** Nothing was reserved. The state has changed since the plan; plan again. */
  | { readonly kind: 'refused'; readonly conflicts: readonly ReservationConflict[] };

export type ConfirmResult =
  | { readonly kind: 'confirmed' }
  /** The reservation is not in this ledger: it was reverted or confirmed before, or belongs to another ledger. */
  | { readonly kind: 'unknown' }
  /** Nothing was changed: the cluster doesn't show these parts yet. */
  | { readonly kind: 'pending'; readonly missing: readonly string[] };

/**
 * The reservations of placements that are decided, but not yet visible in the cluster.
 *
 * 1. `reserve` reserves everything that a placement needs, or nothing. From then on plans see these volumes, bytes and attach slots
 *    as used. It refuses a placement that was planned on older versions of its objects.
 * 2. The caller writes to the API server, and informers update the index. A newer version of an object always wins over the
 *    reservation.
 * 3. The caller calls `confirm` when the cluster shows the whole placement: the reservation ends, because now the objects themselves
 *    hold the resources. Or it calls `revert` after a failure, which releases everything. A repeated call changes nothing.
 *
 * Two pods never hold the same volume or the same bytes: a volume has one holder, and the available capacity of a pool is what it
 * publishes less all promises. Only pods that share a claim share what is reserved for that claim.
 */
export class Ledger {
  readonly #index: ClusterIndex;
  readonly #byPod = new Map<string, Reservation>();
  /** The pods whose reservations bind a claim to an existing volume, by claim. */
  readonly #holders = new Map<string, Set<string>>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  get(podKey: string): Reservation | undefined {
    return this.#byPod.get(podKey);
  }

  all(): Iterable<Reservation> {
    return this.#byPod.values();
  }

  reserve(placement: Placement): ReserveResult {
    const podKey = placement.pod.key;
    const known = this.#byPod.get(podKey);
    if (known?.placement === placement) return { kind: 'reserved', reservation: known };
    if (known !== undefined) {
      return refusedWith({ object: `Pod ${podKey}`, problem: 'has a reservation already; revert it first' });
    }
    const conflicts = findConflicts(this.#index, placement);
    if (conflicts.length > 0) return { kind: 'refused', conflicts };
    const savepoint = this.#index.savepoint();
    const shortage = this.#reserveAll(placement);
    if (shortage !== undefined) {
      this.#index.rollback(savepoint);
      return refusedWith(shortage);
    }
    const reservation = { podKey, placement };
    this.#set(podKey, reservation);
    this.#index.release(savepoint);
    return { kind: 'reserved', reservation };
  }

  confirm(reservation: Reservation): ConfirmResult {
    if (!this.#isCurrent(reservation)) return { kind: 'unknown' };
    const missing = unconfirmedParts(this.#index, reservation.placement);
    if (missing.length > 0) return { kind: 'pending', missing };
    this.#endReservation(reservation);
    return { kind: 'confirmed' };
  }

  /** Returns what was released, to wake pods that wait for it; undefined if the reservation had already ended. */
  revert(reservation: Reservation): ReleaseChange | undefined {
    if (!this.#isCurrent(reservation)) return undefined;
    return this.#endReservation(reservation);
  }

  /** The differences between the cluster and a reservation. If there are any, its writes will fail and the caller should revert it. */
  conflicts(reservation: Reservation): readonly ReservationConflict[] {
    return this.#isCurrent(reservation) ? findConflicts(this.#index, reservation.placement) : [];
  }

  #isCurrent(reservation: Reservation): boolean {
    return this.#byPod.get(reservation.podKey) === reservation;
  }

  /** Reserves everything, or returns the first shortage; then the caller rolls back. */
  #reserveAll(placement: Placement): ReservationConflict | undefined {
    const requests = promiseRequests(placement);
    const busy = requests.find((request) => this.#isPoolBusy(request));
    if (busy !== undefined)
      return poolConflict(busy.pool!, 'has a volume in flight; its driver allows one pod at a time');
    for (const { volume, claim } of placement.bindings) {
      if (this.#index.volumes.holderOf(volume) !== claim) this.#index.setHold(volume, claim);
    }
    for (const request of requests) {
      const shortage = this.#addPromise(request);
      if (shortage !== undefined) return shortage;
    }
    return this.#assumePod(placement);
  }

  /** Two plans may use the same attach slot. The check here refuses the second reservation. */
  #assumePod({ pod, node }: Placement): ReservationConflict | undefined {
    const { attachments, nodes, profile } = this.#index;
    const drivers = profile.limitChosenVolumes ? [...(nodes.drivers(node)?.limits ?? [])] : [];
    const limits = drivers.flatMap(([driver, limit]) => (limit === undefined ? [] : { driver, limit }));
    const attached = (driver: string) => attachments.attachedOn(node).get(driver)?.size ?? 0;
    const before = limits.map(({ driver }) => attached(driver));
    this.#index.setAssumedPod(pod.key, { ...pod, nodeName: node });
    const exceeded = limits.find(({ driver, limit }, at) => {
      const after = attached(driver);
      return after > before[at]! && after > limit;
    });
    if (exceeded === undefined) return undefined;
    return { object: `Node ${node}`, problem: `can attach no more volumes of ${exceeded.driver}` };
  }

  /** Pods that share a claim share its promise, so the capacity is deducted only once. */
  #addPromise(request: PromiseRequest): ReservationConflict | undefined {
    const { id, claimUid, nodeName, size, pool, spreadGroup } = request;
    const known = this.#index.promises.get(id);
    if (known === undefined && this.#hasGroup(request))
      return poolConflict(pool!, `has a volume of ${spreadGroup} since the plan was made`);
    const created = {
      id,
      claimUid,
      nodeName,
      size,
      poolKey: pool?.key,
      reservations: 0,
      isStored: false,
      settled: undefined,
      spreadGroup,
    };
    const promised: CapacityPromise = known ?? created;
    this.#index.setPromise(id, { ...promised, reservations: promised.reservations + 1 });
    return known === undefined ? this.#shortage(request) : undefined;
  }

  /** The drive has a volume of the same group, and the class spreads them. */
  #hasGroup({ pool, spreadGroup }: PromiseRequest): boolean {
    if (pool === undefined || spreadGroup === undefined) return false;
    return this.#index.pools.drivesWithGroup(spreadGroup)?.has(pool.key) === true;
  }

  /** The pool has a promise, and the policy of its driver is `one-at-a-time`. */
  #isPoolBusy({ driver, pool }: PromiseRequest): boolean {
    const { profile, pools } = this.#index;
    const row = pool === undefined ? undefined : pools.row(pool.key);
    return row !== undefined && inFlightPolicy(profile, driver) === 'one-at-a-time' && pools.hasPromises(row);
  }

  /** After the promise, the available capacity of the pool must not be negative. */
  #shortage({ pool, driver, size }: PromiseRequest): ReservationConflict | undefined {
    if (pool === undefined || inFlightPolicy(this.#index.profile, driver) === 'off') return undefined;
    const row = this.#index.pools.row(pool.key);
    if (row === undefined) return poolConflict(pool, 'is gone');
    const isCovered = compareSizes(this.#index.pools.available(row), zeroSize) >= 0;
    return isCovered || compareSizes(size, zeroSize) === 0
      ? undefined
      : poolConflict(pool, 'has less free capacity than when the plan was made');
  }

  #endReservation(reservation: Reservation): ReleaseChange {
    const { placement, podKey } = reservation;
    this.#set(podKey, undefined);
    const volumes = placement.bindings.flatMap(({ volume, claim }) => this.#releaseHold(volume, claim));
    const ids = promiseRequests(placement).map(({ id }) => id);
    const pools = ids.flatMap((id) => this.#releasePromise(id));
    this.#index.setAssumedPod(podKey, undefined);
    return { kind: 'Release', volumes, pools, nodeName: placement.node };
  }

  /** Keeps the hold if another pod that shares the claim still needs it. */
  #releaseHold(volume: string, claim: string): VolumeRecord[] {
    if (this.#index.volumes.holderOf(volume) !== claim || this.#holders.has(claim)) return [];
    this.#index.setHold(volume, undefined);
    const record = this.#index.volumes.get(volume);
    return record === undefined ? [] : [record];
  }

  #releasePromise(id: string): PoolRecord[] {
    const promised = this.#index.promises.get(id);
    if (promised === undefined || promised.reservations === 0) return [];
    const kept = promiseIfNeeded({ ...promised, reservations: promised.reservations - 1 });
    this.#index.setPromise(id, kept);
    const pool = promised.poolKey === undefined ? undefined : this.#index.pools.get(promised.poolKey);
    return kept === undefined && pool !== undefined ? [pool] : [];
  }

  #set(podKey: string, reservation: Reservation | undefined): void {
    const before = this.#byPod.get(podKey);
    this.#index.recordUndo(() => this.#apply(podKey, before));
    this.#apply(podKey, reservation);
    assert(this.#byPod.get(podKey) === reservation, 'a pod has one reservation');
  }

  #apply(podKey: string, reservation: Reservation | undefined): void {
    const before = this.#byPod.get(podKey);
    for (const { claim } of before?.placement.bindings ?? []) removeFrom(this.#holders, claim, podKey);
    for (const { claim } of reservation?.placement.bindings ?? []) addTo(this.#holders, claim, podKey);
    setOrDelete(this.#byPod, podKey, reservation);
  }
}

interface PromiseRequest {
  readonly id: string;
  readonly claimUid: string;
  readonly nodeName: string;
  readonly size: Size;
  readonly pool: PoolChoice | undefined;
  readonly driver: string;
  readonly spreadGroup?: string | undefined;
}

/** The pool capacity that a placement needs, for claims and inline volumes. */
function promiseRequests({ node: nodeName, provisions, inlineVolumes }: Placement): PromiseRequest[] {
  return [
    ...provisions.map(({ claim, claimUid, driver, requested, pool, spreadGroup }) => {
      return { id: claim, claimUid, nodeName, size: requested, pool, driver, spreadGroup };
    }),
    ...inlineVolumes.map(({ volume, driver, requested, pool }) => {
      return { id: volume, claimUid: '', nodeName, size: requested, pool, driver };
    }),
  ];
}

function poolConflict(pool: PoolChoice, problem: string): ReservationConflict {
  return { object: `pool ${pool.name}`, problem };
}

function refusedWith(conflict: ReservationConflict): ReserveResult {
  return { kind: 'refused', conflicts: [conflict] };
}
