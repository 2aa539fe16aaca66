import type { StoreChange } from './store.ts';

/**
 * Persists writes; the only difference between a durable store and one in memory.
 *
 * `persist` is called with the changes since the last successful call, in order, and never concurrently. It resolves
 * when all of them are durable and rejects when none of them is: there are no partial results.
 */
export interface Durability {
  /** `revision` is the revision of the newest change. */
  persist(changes: readonly StoreChange[], revision: number): Promise<void>;
  /** Called once, while no `persist` is running. */
  close(): Promise<void>;
}
