import { capacityReportGraceMs } from '../../../kube/publisher-heartbeat.ts';
import { addTo, removeFrom, setOrDelete } from '../../maps.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { PoolRow } from './pool-entry.ts';

/**
 * When the capacity reports of pools expire: at the time that they state, and when their publisher no longer renews its Lease. A publisher that names no Lease, or
 * one that is not known, is not dead: its reports do not expire for that reason.
 */
export class PoolExpiry {
  /** Indexed by row. */
  atMs = new Float64Array(64);
  readonly #statedMs: number[] = [];
  readonly #trustedUntilMs = new Map<string, number>();
  readonly #rowsOfLease = new Map<string, Set<PoolRow>>();

  recordChanged(row: PoolRow, before: PoolRecord | undefined, after: PoolRecord | undefined): void {
    const [lease, formerLease] = [after?.publisherLease, before?.publisherLease];
    if (formerLease !== lease) {
      if (formerLease !== undefined) removeFrom(this.#rowsOfLease, formerLease, row);
      if (lease !== undefined) addTo(this.#rowsOfLease, lease, row);
    }
    if (row >= this.atMs.length) this.#grow();
    this.#statedMs[row] = after?.expiresAtMs ?? Number.POSITIVE_INFINITY;
    this.atMs[row] = Math.min(this.#statedMs[row], this.trustedUntilMs(lease));
  }

  /** `untilMs`: when the reports of the publisher that renews the Lease expire; undefined if that is unknown. */
  setTrust(lease: string, untilMs: number | undefined): void {
    setOrDelete(this.#trustedUntilMs, lease, untilMs);
    const trustedMs = this.trustedUntilMs(lease);
    for (const row of this.rowsOf(lease)) this.atMs[row] = Math.min(this.#statedMs[row]!, trustedMs);
  }

  trustedUntilMs(lease: string | undefined): number {
    return (lease === undefined ? undefined : this.#trustedUntilMs.get(lease)) ?? Number.POSITIVE_INFINITY;
  }

  /** The pools whose publisher renews the Lease. */
  rowsOf(lease: string): Iterable<PoolRow> {
    return this.#rowsOfLease.get(lease) ?? [];
  }

  /** How many pools have a publisher that no longer exists; their reports expire later. */
  countWithoutPublisher(nowMs: number): number {
    let count = 0;
    for (const [lease, untilMs] of this.#trustedUntilMs)
      if (untilMs - capacityReportGraceMs < nowMs) count += this.#rowsOfLease.get(lease)?.size ?? 0;
    return count;
  }

  #grow(): void {
    const grown = new Float64Array(this.atMs.length * 2);
    grown.set(this.atMs);
    this.atMs = grown;
  }
}
