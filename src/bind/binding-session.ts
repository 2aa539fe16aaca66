import type { Cluster, Projected } from '../cluster/cluster.ts';
import type { ClusterChange, ReleaseChange } from '../engine/cluster-index/cluster-change.ts';
import { boundClaimsOf } from '../engine/ledger/binding-progress.ts';
import { Ledger, type Reservation, type ReserveResult } from '../engine/ledger/ledger.ts';
import type { Placement } from '../engine/plan.ts';
import type { Pod } from '../kube/api/core.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterFeed } from '../state/cluster-feed.ts';
import { avoidNodeAfter, BindFailure } from './bind-failure.ts';
import { ReservationConfirmations } from './confirmations.ts';
import { InFlightBinding, InFlightBindings } from './in-flight-bindings.ts';
import { type OnSlowProvisioning, PodBinder } from './pod-binder.ts';
import { PodSchedulingWrites } from './pod-scheduling-writes.ts';
import { VolumeBindingWrites } from './volume-writes.ts';

export interface BindingSessionOptions {
  readonly cluster: Cluster;
  /** The state that placements are planned on. The session passes the result of each of its writes to it. */
  readonly feed: ClusterFeed;
  readonly clock: Clock;
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. Default: ten minutes. */
  readonly bindTimeoutMs?: number | undefined;
  /** Called after each `revert`, with what became free: pods that wait for it can be planned again. Must neither throw nor wait. */
  readonly onReverted: (reservation: Reservation, released: readonly ReleaseChange[]) => void;
  /** Called once for a binding whose provisioners take long. Must neither throw nor wait. */
  readonly onSlowProvisioning?: OnSlowProvisioning | undefined;
}

/** `volumes` leaves it to the caller to bind the pod to its node. */
export type BindExtent = 'volumes' | 'volumes and pod';

export interface BindOptions {
  readonly extent: BindExtent;
  /**
   * Called with the error when the binding has failed, before its capacity becomes free for other pods. A scheduler nominates a pod here
   * that can run on no other node. Not called when the signal aborted.
   */
  readonly beforeRevert?: ((error: unknown) => void) | undefined;
}

/**
 * Turns placements into bound volumes and bound pods. One session owns the reservations (the ledger), the bindings in flight, the
 * confirmations that end reservations, and all writes about pods and volumes. The scheduler, `stowage/binding` and the extender each
 * have one.
 *
 * **Order of calls.**
 *
 * 1. The owner of the feed calls `observe` for every change, after the index has it.
 * 2. For each pod, the caller plans a placement on the feed's index and calls `reserve` without awaiting anything in between: then the
 *    ledger takes exactly what the plan saw. From here on no plan offers these volumes, bytes and attach slots to another pod.
 * 3. The caller passes the reservation to `bind` (or `bindAssigned`, for a pod that was created with its node), or gives it back with
 *    `revert`. It calls `bind` at most once for a reservation.
 * 4. `bind` ends the reservation in any case. After success the session confirms it as soon as the index shows everything that was
 *    reserved: immediately, or in a later `observe`. After a failure the session reverts it.
 *
 * **Concurrency.** `reserve`, `revert`, `cancel` and `observe` are synchronous. Any number of `bind` calls may run at the same time,
 * while the caller plans further pods. A pod name has at most one reservation; a pod that was re-created under the name of one that is
 * being bound has to wait for `onReverted`. Only one session should place the pods of one scheduler name. If there are two, every
 * write still carries the uid and resourceVersion that was decided on, so one of them gets `Conflict` and no volume is given twice.
 *
 * **Failure.** `bind` rejects with a `BindFailure`. The session has then withdrawn the claimRefs that the PV controller had not yet
 * completed, has listed the others in `keptBindings`, and has reverted the reservation. If a volume could not be provisioned, plans
 * avoid that node for a while. The caller may plan the pod again. `cancel` makes a running `bind` fail, unless the pod's node is
 * already being written. If the signal aborts, `bind` rejects with its reason and undoes nothing on the server, because after the loss
 * of leadership nothing may be written any more.
 *
 * **Crash safety.** The session persists no state besides the API objects. After a crash at any point, the next process rebuilds from the API server
 * what was promised, before its first decision:
 *
 * - after `reserve`: nothing was written, so there is nothing to clean up;
 * - after a selected node: the annotation on the claim makes the index count the promised bytes, and the next plan of the pod
 *   continues on that node;
 * - after a claimRef: the PersistentVolume itself is the lock; the next plan finds it, and the scheduler rolls it back if the pod no
 *   longer fits there (`ClaimRollback`);
 * - after the claim names its volume: the binding is final, and the pod follows the volume;
 * - after the pod's binding: the pod has its node, and the API server refuses a second one. A binding that is still on its way when
 *   another process takes over may take effect after that process has given the same capacity to other pods; the kubelet then refuses the pod.
 *
 * Only in memory is the pod's place on the node, its CPU and its slot. A scheduler therefore starts with the pods that have volumes which
 * only some nodes reach, before others of their priority.
 *
 * Each step first checks whether it is already done, so repeating a sequence that was interrupted writes only what is missing.
 */
export class BindingSession {
  readonly podWrites: PodSchedulingWrites;
  readonly volumeWrites: VolumeBindingWrites;
  readonly #options: BindingSessionOptions;
  readonly #ledger: Ledger;
  readonly #inFlight = new InFlightBindings();
  readonly #confirmations: ReservationConfirmations;
  readonly #binders: Readonly<Record<BindExtent, PodBinder>>;

  constructor(options: BindingSessionOptions) {
    const { cluster, feed, clock, bindTimeoutMs: timeoutMs, onSlowProvisioning } = options;
    const { index } = feed;
    this.#options = options;
    this.#ledger = new Ledger(index);
    this.#confirmations = new ReservationConfirmations({
      index,
      ledger: this.#ledger,
      inFlight: this.#inFlight,
      revert: (reservation) => this.revert(reservation),
    });
    const pods = new PodSchedulingWrites({ cluster, feed, clock });
    const volumes = new VolumeBindingWrites(cluster, feed, clock);
    const nominate = pods.nominate.bind(pods);
    const shared = { index, clock, volumes, timeoutMs, onSlowProvisioning };
    this.podWrites = pods;
    this.volumeWrites = volumes;
    this.#binders = {
      volumes: new PodBinder({ ...shared, pods: { nominate, bind: async () => {} } }),
      'volumes and pod': new PodBinder({ ...shared, pods }),
    };
  }

  /** Wakes the bindings that the change concerns, and confirms or reverts reservations that it has settled. */
  observe(change: ClusterChange): void {
    this.#inFlight.observe(change);
    this.#confirmations.observe(change);
  }

  // ── Reservations ──

  reserve(placement: Placement): ReserveResult {
    return this.#ledger.reserve(placement);
  }

  /** The reservation under this pod name. It may belong to a pod with another uid. */
  reservationOf(podKey: string): Reservation | undefined {
    return this.#ledger.get(podKey);
  }

  reservations(): Iterable<Reservation> {
    return this.#ledger.all();
  }

  /** Frees what is reserved. Does nothing for a reservation that has ended. */
  revert(reservation: Reservation): void {
    const released = [this.#ledger.revert(reservation), this.#options.feed.index.drainReleases()];
    this.#options.onReverted(
      reservation,
      released.filter((change) => change !== undefined),
    );
  }

  // ── Binding ──

  /** How many bindings are in flight. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Resolves when the next binding in flight ends, successfully or not. */
  nextEnd(): Promise<void> {
    return this.#inFlight.nextEnd();
  }

  /** False if the pod is not being bound, or if its node is already being written. */
  cancel(podKey: string, cause: string): boolean {
    return this.#inFlight.get(podKey)?.cancel(cause) ?? false;
  }

  /** Binds the pod's volumes, then the pod. Rejects with a `BindFailure`, or with the reason of `signal`. */
  async bind(
    pod: Projected<Pod>,
    reservation: Reservation,
    { extent, beforeRevert }: BindOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const binding = this.#start(pod, reservation);
    try {
      await this.#binders[extent].bind(binding, signal);
      this.#inFlight.delete(binding);
    } catch (error) {
      this.#inFlight.delete(binding);
      this.#avoidNode(error, reservation.placement.node);
      if (!signal.aborted) beforeRevert?.(error);
      this.revert(reservation);
      throw error;
    }
    // The pod's own event may have come while the binding was in flight; there may be no other.
    this.#confirmations.confirm(reservation.podKey);
  }

  /**
   * Binds the volumes of a pod that was created with its node. The reservation ends in any case: the pod occupies its node whether
   * or not the volumes are bound, and what was written stays written. Plans do not avoid the node, since the pod has no other.
   */
  async bindAssigned(pod: Projected<Pod>, reservation: Reservation, signal: AbortSignal): Promise<void> {
    const binding = this.#start(pod, reservation);
    try {
      // It skips the pod's own binding for a pod that has a node.
      await this.#binders['volumes and pod'].bind(binding, signal);
    } finally {
      this.#inFlight.delete(binding);
      this.revert(reservation);
    }
  }

  #start(pod: Projected<Pod>, reservation: Reservation): InFlightBinding {
    const { feed, clock } = this.#options;
    const boundClaims = boundClaimsOf(feed.index, reservation.placement);
    const binding = new InFlightBinding({ pod, reservation, boundClaims, decidedMs: clock.monotonicMs() });
    this.#inFlight.add(binding);
    return binding;
  }

  #avoidNode(error: unknown, nodeName: string): void {
    const { feed, clock } = this.#options;
    if (error instanceof BindFailure) avoidNodeAfter(error, nodeName, feed.index, clock.nowMs());
  }
}
