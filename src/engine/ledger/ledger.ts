import { assert } from '../../runtime/assert.ts';
import type { ReleaseChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { settledPromise } from '../cluster-index/pools/promise-reconciler.ts';
import { type CapacityPromise, promiseIfNeeded } from '../cluster-index/pools/promise-table.ts';
import { addTo, removeFrom, setOrDelete } from '../cluster-index/primitives/maps.ts';
import { inFlightPolicy } from '../cluster-index/profile.ts';
import type { Placement } from '../plan.ts';
import type { PoolRecord } from '../records/pool-record.ts';
import type { VolumeRecord } from '../records/volume-record.ts';
import type { PoolChoice } from '../rules/framework/decisions.ts';
import { compareSizes, type Size, zeroSize } from '../size.ts';
import { findConflicts, type ReservationConflict, unconfirmedParts } from './conflicts.ts';

/** What one pod has been given, until the cluster's own objects say so. */
export interface Reservation {
  readonly podKey: string;
  readonly placement: Placement;
}

export type ReserveResult =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  /** Nothing was taken. The plan was made on another state than this; plan again. */
  | { readonly kind: 'refused'; readonly conflicts: readonly ReservationConflict[] };

export type ConfirmResult =
  | { readonly kind: 'confirmed' }
  /** It is not in the ledger: reverted or confirmed before, or of another ledger. */
  | { readonly kind: 'unknown' }
  /** Nothing was changed: the cluster doesn't show these yet. */
  | { readonly kind: 'pending'; readonly missing: readonly string[] };

/**
 * Who holds what between a decision and the cluster knowing it.
 *
 * 1. `reserve` takes all that a placement needs, or nothing. From then on no plan sees those volumes, bytes or attach slots
 *    as free. A placement made on older versions of its objects is refused.
 * 2. The caller writes to the API server, and feeds the index what the informers then say. A newer version of an object
 *    always wins over what was reserved of it.
 * 3. `confirm` when the cluster shows everything: the shadow is dropped, the objects themselves hold now. Or `revert` when it
 *    failed: all is given back. Both may be repeated; a second call changes nothing.
 *
 * Two pods never hold the same volume or the same bytes: a volume has one holder, and a pool's room is what is published less
 * every promise. Only pods that share a claim share what that claim holds.
 */
export class Ledger {
  readonly #index: ClusterIndex;
  readonly #byPod = new Map<string, Reservation>();
  /** By claim, the pods whose reservations give it an existing volume. */
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
      return refused({ object: `Pod ${podKey}`, problem: 'has a reservation already; revert it first' });
    }
    const conflicts = findConflicts(this.#index, placement);
    if (conflicts.length > 0) return { kind: 'refused', conflicts };
    const savepoint = this.#index.savepoint();
    const shortage = this.#take(placement);
    if (shortage !== undefined) {
      this.#index.rollback(savepoint);
      return refused(shortage);
    }
    const reservation = { podKey, placement };
    this.#set(podKey, reservation);
    this.#index.release(savepoint);
    return { kind: 'reserved', reservation };
  }

  confirm(reservation: Reservation): ConfirmResult {
    if (!this.#isLive(reservation)) return { kind: 'unknown' };
    const missing = unconfirmedParts(this.#index, reservation.placement);
    if (missing.length > 0) return { kind: 'pending', missing };
    this.#giveUp(reservation, (promised) =>
      // An inline volume has no claim to be bound: the pod's running is what settles it.
      promised.claimUid === '' ? settledPromise(this.#index.pools, promised) : promised,
    );
    return { kind: 'confirmed' };
  }

  /** What has become free again, for waking pods that wait for it; undefined if there was nothing to give back. */
  revert(reservation: Reservation): ReleaseChange | undefined {
    if (!this.#isLive(reservation)) return undefined;
    return this.#giveUp(reservation, (promised) => promised);
  }

  /** What the cluster says against a reservation: then its writes will fail, and it should be reverted. */
  conflicts(reservation: Reservation): readonly ReservationConflict[] {
    return this.#isLive(reservation) ? findConflicts(this.#index, reservation.placement) : [];
  }

  #isLive(reservation: Reservation): boolean {
    return this.#byPod.get(reservation.podKey) === reservation;
  }

  /** Takes everything; the first thing that turns out not to be had is the answer, and the caller rolls back. */
  #take(placement: Placement): ReservationConflict | undefined {
    const requests = promiseRequests(placement);
    const busy = requests.find((request) => this.#isBusy(request));
    if (busy !== undefined)
      return conflictOf(busy.pool!, 'has a volume in flight; its driver takes one pod at a time');
    for (const { volume, claim } of placement.bindings) {
      if (this.#index.volumes.holderOf(volume) !== claim) this.#index.setHold(volume, claim);
    }
    for (const request of requests) {
      const shortage = this.#promise(request);
      if (shortage !== undefined) return shortage;
    }
    return this.#assume(placement);
  }

  /** Two plans may have counted on the same attach slot; the second to be reserved learns it here. */
  #assume({ pod, node }: Placement): ReservationConflict | undefined {
    const { attachments, profile } = this.#index;
    const before = attachments.attachedOn(node);
    this.#index.setAssumedPod(pod.key, { ...pod, nodeName: node });
    if (!profile.limitChosenVolumes) return undefined;
    for (const [driver, handles] of attachments.attachedOn(node)) {
      const limit = attachments.limit(node, driver);
      const isGrown = handles.size > (before.get(driver)?.size ?? 0);
      if (limit !== undefined && isGrown && handles.size > limit) {
        return { object: `Node ${node}`, problem: `can attach no more volumes of ${driver}` };
      }
    }
    return undefined;
  }

  /** The promise of a claim that another pod has reserved already is shared; that room has been taken. */
  #promise(request: PromiseRequest): ReservationConflict | undefined {
    const { id, claimUid, nodeName, size, pool } = request;
    const known = this.#index.promises.get(id);
    const fresh = {
      id,
      claimUid,
      nodeName,
      size,
      poolKey: pool?.key,
      reservations: 0,
      isStored: false,
      settled: undefined,
    };
    const promised: CapacityPromise = known ?? fresh;
    this.#index.setPromise(id, { ...promised, reservations: promised.reservations + 1 });
    return known === undefined ? this.#shortage(request) : undefined;
  }

  /** The pool has been promised to another pod, and its driver wants one at a time. */
  #isBusy({ driver, pool }: PromiseRequest): boolean {
    const { profile, pools } = this.#index;
    const row = pool === undefined ? undefined : pools.row(pool.key);
    return row !== undefined && inFlightPolicy(profile, driver) === 'one-at-a-time' && pools.hasPromises(row);
  }

  /** Having promised it, the pool must not be below zero. */
  #shortage({ pool, driver, size }: PromiseRequest): ReservationConflict | undefined {
    if (pool === undefined || inFlightPolicy(this.#index.profile, driver) === 'off') return undefined;
    const row = this.#index.pools.row(pool.key);
    if (row === undefined) return conflictOf(pool, 'is gone');
    const isKept = compareSizes(this.#index.pools.available(row), zeroSize) >= 0;
    return isKept || compareSizes(size, zeroSize) === 0
      ? undefined
      : conflictOf(pool, 'has less room than when the plan was made');
  }

  #giveUp(
    reservation: Reservation,
    settle: (promised: CapacityPromise) => CapacityPromise | undefined,
  ): ReleaseChange {
    const { placement, podKey } = reservation;
    this.#set(podKey, undefined);
    const volumes = placement.bindings.flatMap(({ volume, claim }) => this.#unhold(volume, claim));
    const ids = promiseRequests(placement).map(({ id }) => id);
    const pools = ids.flatMap((id) => this.#unpromise(id, settle));
    this.#index.setAssumedPod(podKey, undefined);
    return { kind: 'Release', volumes, pools, nodeName: placement.node };
  }

  /** Unless another pod that shares the claim still holds it. */
  #unhold(volume: string, claim: string): VolumeRecord[] {
    if (this.#index.volumes.holderOf(volume) !== claim || this.#holders.has(claim)) return [];
    this.#index.setHold(volume, undefined);
    const record = this.#index.volumes.get(volume);
    return record === undefined ? [] : [record];
  }

  #unpromise(id: string, settle: (promised: CapacityPromise) => CapacityPromise | undefined): PoolRecord[] {
    const promised = this.#index.promises.get(id);
    if (promised === undefined || promised.reservations === 0) return [];
    const settled = settle({ ...promised, reservations: promised.reservations - 1 });
    const kept = settled && promiseIfNeeded(settled);
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
}

/** What a placement needs of pools, for claims and for inline volumes alike. */
function promiseRequests({ node: nodeName, provisions, inlineVolumes }: Placement): PromiseRequest[] {
  return [
    ...provisions.map(({ claim, claimUid, driver, requested, pool }) => {
      return { id: claim, claimUid, nodeName, size: requested, pool, driver };
    }),
    ...inlineVolumes.map(({ volume, driver, requested, pool }) => {
      return { id: volume, claimUid: '', nodeName, size: requested, pool, driver };
    }),
  ];
}

function conflictOf(pool: PoolChoice, problem: string): ReservationConflict {
  return { object: `pool ${pool.name}`, problem };
}

function refused(conflict: ReservationConflict): ReserveResult {
  return { kind: 'refused', conflicts: [conflict] };
}
