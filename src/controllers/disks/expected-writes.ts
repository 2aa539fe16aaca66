import type { Clock } from '../../runtime/clock.ts';

/**
 * A write that a cache does not show after this time was overwritten: then the plan goes on with what the cache has. It is long, because the watches of a
 * busy process may be seconds behind, and writes that are repeated then make it busier.
 */
const overdueMs = 20_000;

/**
 * Writes of this process that its caches do not show yet. Each kind has a watch of its own, so the event of one write may arrive before that of an
 * earlier one; a plan from such caches would repeat writes, and lose against itself. It only saves writes: every write carries a version or is
 * right whatever else changed, so a plan from stale caches is harmless too.
 */
export class ExpectedWrites {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #byOwner = new Map<string, ExpectedWrite[]>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  add(owner: string, isSeen: () => boolean): void {
    const writes = this.#byOwner.get(owner) ?? [];
    writes.push({ isSeen, overdueAtMs: this.#clock.nowMs() + overdueMs });
    this.#byOwner.set(owner, writes);
  }

  /** How long the owner's next plan waits at most; undefined if the caches show all of its writes. */
  remainingMs(owner: string): number | undefined {
    const nowMs = this.#clock.nowMs();
    const unseen = (this.#byOwner.get(owner) ?? []).filter(
      ({ isSeen, overdueAtMs }) => overdueAtMs > nowMs && !isSeen(),
    );
    if (unseen.length === 0) {
      this.#byOwner.delete(owner);
      return undefined;
    }
    this.#byOwner.set(owner, unseen);
    return Math.max(...unseen.map(({ overdueAtMs }) => overdueAtMs - nowMs));
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }
}

interface ExpectedWrite {
  readonly isSeen: () => boolean;
  readonly overdueAtMs: number;
}
