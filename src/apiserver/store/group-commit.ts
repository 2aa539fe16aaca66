import type { Durability } from './durability.ts';
import type { StoreChange } from './store.ts';

/** One transaction holds no more; a storm becomes several of them rather than one that takes seconds. */
const batchLengthMax = 4096;

/** What became of the changes. */
export interface CommitOutcome {
  /** All changes up to this revision are safe. */
  onDurable(revision: number): void;
  /** No change since the last `onDurable` is, nor will be: those that were waiting have been dropped too. */
  onFailed(reason: unknown): void;
}

/**
 * Makes changes durable, many at a time: while one batch is being flushed, the next one gathers. So a single writer waits
 * for one flush, and a thousand writers share it. Nothing is gained by waiting for more when the disk is idle.
 */
export class GroupCommit {
  readonly #durability: Durability;
  readonly #outcome: CommitOutcome;
  #gathered: StoreChange[] = [];
  #running: Promise<void> | undefined;

  constructor(durability: Durability, outcome: CommitOutcome) {
    this.#durability = durability;
    this.#outcome = outcome;
  }

  add(change: StoreChange): void {
    this.#gathered.push(change);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is left to do, however it went. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Never rejects: the outcome goes to `CommitOutcome`. */
  async #run(): Promise<void> {
    await Promise.resolve(); // Gathers what is written in the same turn.
    while (this.#gathered.length > 0) await this.#commit(this.#gathered.splice(0, batchLengthMax));
    this.#running = undefined;
  }

  async #commit(batch: readonly StoreChange[]): Promise<void> {
    const { revision } = batch.at(-1)!.entry;
    try {
      await this.#durability.persist(batch, revision);
    } catch (error) {
      this.#gathered = [];
      this.#outcome.onFailed(error);
      return;
    }
    this.#outcome.onDurable(revision);
  }
}
