import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { Ledger, Reservation } from '../engine/ledger/ledger.ts';
import type { InFlightBindings } from './in-flight-bindings.ts';

export interface ReservationConfirmationsOptions {
  readonly index: ClusterIndex;
  readonly ledger: Ledger;
  readonly inFlight: InFlightBindings;
  /** Frees what is reserved, and wakes the pods that wait for it. */
  readonly revert: (reservation: Reservation) => void;
}

/**
 * Ends reservations that are no longer needed. When the index shows everything that was reserved, the reservation is confirmed: from then
 * on the objects themselves count. When the pod is deleted, the reservation is reverted. While a binding is in flight its reservation stays:
 * `BindingSession.bind` ends it.
 */
export class ReservationConfirmations {
  readonly #options: ReservationConfirmationsOptions;

  constructor(options: ReservationConfirmationsOptions) {
    this.#options = options;
  }

  /** Called with every change, after the index has it. */
  observe(change: ClusterChange): void {
    if (change.kind === 'Pod') this.confirm((change.after ?? change.before)!.key);
    if (change.kind !== 'PersistentVolumeClaim') return;
    const users = [...this.#options.index.pods.usingClaim((change.after ?? change.before)!.key)];
    for (const { key } of users) this.confirm(key);
  }

  confirm(podKey: string): void {
    const { index, ledger, inFlight, revert } = this.#options;
    const reservation = ledger.get(podKey);
    if (reservation === undefined || inFlight.get(podKey) !== undefined) return;
    const stored = index.pods.stored(podKey);
    if (stored?.uid !== reservation.placement.pod.uid) revert(reservation);
    else ledger.confirm(reservation);
  }
}
