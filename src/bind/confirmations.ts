import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { Ledger, Reservation } from '../engine/ledger/ledger.ts';
import type { InFlightBindings } from './in-flight-bindings.ts';

export interface ReservationConfirmationsOptions {
  readonly index: ClusterIndex;
  readonly ledger: Ledger;
  readonly inFlight: InFlightBindings;
  /** Ends a reservation, and wakes those that it kept waiting. */
  readonly revert: (reservation: Reservation) => void;
}

/**
 * Ends reservations that have landed. The cluster shows what was reserved: the shadow can go. A pod that went away with its reservation
 * gives it back. While a pod is on its way nothing is ended: whoever carries it out says how it went.
 */
export class ReservationConfirmations {
  readonly #options: ReservationConfirmationsOptions;

  constructor(options: ReservationConfirmationsOptions) {
    this.#options = options;
  }

  /** Told of every change after the index has it. */
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
