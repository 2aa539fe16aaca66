/**
 * Who waits for which revision to become durable, and which revisions never will.
 *
 * Writes that were taken back leave a gap in the revisions. Somebody may ask about one in the gap long after the durable
 * revision has passed it, and must still hear that it failed; so gaps are remembered, the newest of them.
 */
export class DurableWaiters {
  readonly #waiters = new Map<number, Waiter>();
  readonly #gaps: RolledBackRange[] = [];

  /** Rejects when the revision is in a gap. */
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

  /** Everything after one revision and up to another was taken back. Nobody waits for anything else. */
  rejectBetween(after: number, through: number, reason: unknown): void {
    this.#remember({ after, through, reason });
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const { reject } of waiters) reject(reason);
  }

  #gapWith(revision: number): RolledBackRange | undefined {
    return this.#gaps.find(({ after, through }) => revision > after && revision <= through);
  }

  /** While the disk stays full, one failure follows another without a success between them: that is one gap. */
  #remember(gap: RolledBackRange): void {
    if (this.#gaps.at(-1)?.after === gap.after) this.#gaps.pop();
    this.#gaps.push(gap);
    if (this.#gaps.length > gapsMax) this.#gaps.shift();
  }
}

/** Nobody asks about a write that failed so many failures ago. */
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
