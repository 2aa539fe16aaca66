import type { Clock } from '../../runtime/clock.ts';

/** What shows that a cache has a write: another version of the object, or another value of the field. */
export type ExpectedChange = 'version' | 'value';

/**
 * After this time the plan goes on with what the cache has, in milliseconds. A value may have been replaced by the one before it, which no cache shows.
 * Versions never come back, so only a watch that is behind delays them: those of a busy process may be a minute behind, and writes that are repeated then
 * make it busier.
 */
const overdueMs: Readonly<Record<ExpectedChange, number>> = { version: 180_000, value: 20_000 };

/**
 * Writes of this process that its caches do not show yet. Each kind has a watch of its own, so the event of one write may arrive before that of an
 * earlier one; a plan from such caches would repeat writes, and lose against itself. It only saves writes: every write carries a version or is
 * right whatever else changed, so a plan from stale caches is harmless too.
 */
export class ExpectedWrites {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #byOwner = new Map<string, ExpectedWrite[]>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  add(owner: string, change: ExpectedChange, isSeen: () => boolean): void {
    const writes = this.#byOwner.get(owner) ?? [];
    writes.push({ isSeen, overdueAtMs: this.#clock.monotonicMs() + overdueMs[change] });
    this.#byOwner.set(owner, writes);
  }

  /** How long the owner's next plan waits at most; undefined if the caches show all of its writes. */
  remainingMs(owner: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
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
