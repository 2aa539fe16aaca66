import type { Change } from '../engine/cluster-index/change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { Ledger, Reservation } from '../engine/ledger/ledger.ts';
import type { Flights } from './flight.ts';

export interface ConfirmationsOptions {
  readonly index: ClusterIndex;
  readonly ledger: Ledger;
  readonly flights: Flights;
  /** Ends a reservation, and wakes those that it kept waiting. */
  readonly giveBack: (reservation: Reservation) => void;
}

/**
 * Ends reservations that have landed. The cluster shows what was reserved: the shadow can go. A pod that went away with its reservation
 * gives it back. While a pod is on its way nothing is ended: whoever carries it out says how it went.
 */
export class Confirmations {
  readonly #options: ConfirmationsOptions;

  constructor(options: ConfirmationsOptions) {
    this.#options = options;
  }

  /** Told of every change after the index has it. */
  changed(change: Change): void {
    if (change.kind === 'Pod') this.confirm((change.after ?? change.before)!.key);
    if (change.kind !== 'PersistentVolumeClaim') return;
    const users = [...this.#options.index.pods.usingClaim((change.after ?? change.before)!.key)];
    for (const { key } of users) this.confirm(key);
  }

  confirm(podKey: string): void {
    const { index, ledger, flights, giveBack } = this.#options;
    const reservation = ledger.get(podKey);
    if (reservation === undefined || flights.get(podKey) !== undefined) return;
    const stored = index.pods.stored(podKey);
    if (stored?.uid !== reservation.placement.pod.uid) giveBack(reservation);
    else ledger.confirm(reservation);
  }
}
