import type { Lease } from '../../kube/api/coordination.ts';
import type { Violation } from './invariant.ts';

const electionsPrefix = 'kube-system/';
/** A leader that does not renew for this long stops. */
const renewedWithinMs = 10_000;

/**
 * Follows who holds which Lease. A Lease may change from one holder to another only when it was released, or when it was not written
 * for as long as it lasts. Leases are written all the time, so they are followed here, and not as versions of objects.
 */
export class LeaseHolders {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, KnownLease>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  written(key: string, lease: Lease | undefined): Violation | undefined {
    const before = this.#known.get(key);
    const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
    const nowMs = this.#nowMs();
    this.#known.set(key, { holder, writtenMs: nowMs, untilMs: nowMs + leaseDurationSeconds * 1000 });
    const isTaken = before !== undefined && before.holder !== '' && holder !== '' && before.holder !== holder;
    if (!isTaken || nowMs >= before.untilMs) return undefined;
    const detail = `Lease ${key} goes from ${before.holder} to ${holder} ${before.untilMs - nowMs} ms before it expires`;
    return { invariant: 'a Lease changes its holder only when it is released or has expired', detail };
  }

  /** Whether every Lease of an election has a holder that renewed it a short time ago. Leases of nodes are of no election. */
  areHeld(): boolean {
    const nowMs = this.#nowMs();
    return [...this.#known].every(
      ([key, { holder, writtenMs }]) =>
        !key.startsWith(electionsPrefix) || (holder !== '' && nowMs - writtenMs < renewedWithinMs),
    );
  }

  /** The last write was undone: what was known before it is unknown. */
  rolledBack(key: string): void {
    this.#known.delete(key);
  }
}

interface KnownLease {
  readonly holder: string;
  readonly writtenMs: number;
  readonly untilMs: number;
}
