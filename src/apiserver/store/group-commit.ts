import type { Durability } from './durability.ts';
import type { StoreChange } from './store.ts';

/** The maximum number of changes in one transaction; a burst is split, so that no commit takes seconds. */
const batchLengthMax = 4096;

/** Callbacks with the result of commits. */
export interface CommitOutcome {
  /** All changes up to this revision are durable. */
  onDurable(revision: number): void;
  /** No change since the last `onDurable` is durable or will be: changes that were still waiting are dropped too. */
  onFailed(reason: unknown): void;
}

/**
 * Commits changes in batches: while one batch is being flushed, the next one accumulates. So a single writer waits for
 * one flush, and a thousand writers share one. When the disk is idle, waiting for more changes would gain nothing.
 */
export class GroupCommit {
  readonly #durability: Durability;
  readonly #outcome: CommitOutcome;
  #pending: StoreChange[] = [];
  #running: Promise<void> | undefined;

  constructor(durability: Durability, outcome: CommitOutcome) {
    this.#durability = durability;
    this.#outcome = outcome;
  }

  add(change: StoreChange): void {
    this.#pending.push(change);
    this.#running ??= this.#run();
  }

  /** Resolves when no changes are left, whether they succeeded or failed. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Never rejects: results go to `CommitOutcome`. */
  async #run(): Promise<void> {
    await Promise.resolve(); // Batches the writes of this turn.
    while (this.#pending.length > 0) await this.#commit(this.#pending.splice(0, batchLengthMax));
    this.#running = undefined;
  }

  async #commit(batch: readonly StoreChange[]): Promise<void> {
    const { revision } = batch.at(-1)!.entry;
    try {
      await this.#durability.persist(batch, revision);
    } catch (error) {
      this.#pending = [];
      this.#outcome.onFailed(error);
      return;
    }
    this.#outcome.onDurable(revision);
  }
}
