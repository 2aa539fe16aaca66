/**
 * Tracks which callers wait for a revision to become durable, and which revisions were rolled back.
 *
 * A rollback leaves a gap in the revisions. A caller may ask about a revision in the gap long after later revisions
 * became durable, and must still get the failure. So the most recent gaps are kept.
 */
export class DurableWaiters {
  readonly #waiters = new Map<number, Waiter>();
  readonly #gaps: RolledBackRange[] = [];

  /** Rejects if the revision was rolled back. */
  wait(revision: number): Promise<void> {
    const gap = this.#gapWith(revision);
    if (gap !== undefined) return Promise.reject(gap.reason);
    const waiter = this.#waiters.get(revision) ?? createWaiter();
    this.#waiters.set(revision, waiter);
    return waiter.promise;
  }

  wasRolledBack(revision: number): boolean {
    return this.#gapWith(revision) !== undefined;
  }

  resolveThrough(revision: number): void {
    for (const [waited, { resolve }] of this.#waiters) {
      if (waited > revision) continue;
      this.#waiters.delete(waited);
      resolve();
    }
  }

  /** All revisions after `after` up to `through` were rolled back. All waiters wait for one of these. */
  rejectBetween(after: number, through: number, reason: unknown): void {
    this.#remember({ after, through, reason });
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const { reject } of waiters) reject(reason);
  }

  #gapWith(revision: number): RolledBackRange | undefined {
    return this.#gaps.find(({ after, through }) => revision > after && revision <= through);
  }

  /** While the disk is full, failures follow each other without a success in between: they form one gap. */
  #remember(gap: RolledBackRange): void {
    if (this.#gaps.at(-1)?.after === gap.after) this.#gaps.pop();
    this.#gaps.push(gap);
    if (this.#gaps.length > gapsMax) this.#gaps.shift();
  }
}

/** Older gaps are dropped; no caller asks about a write that failed this many failures ago. */
const gapsMax = 64;

interface RolledBackRange {
  readonly after: number;
  readonly through: number;
  readonly reason: unknown;
}

interface Waiter {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function createWaiter(): Waiter {
  let resolve = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
