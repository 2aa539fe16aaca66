import type { StoreChange } from './store.ts';

/**
 * What makes writes outlive the process; the one thing in which a durable store differs from one in memory.
 *
 * `persist` is called with the changes since the last successful call, in order, and never while an earlier call is under
 * way. It resolves when all of them are safe, and rejects when none of them is: there is no in between.
 */
export interface Durability {
  /** `revision` is that of the newest change. */
  persist(changes: readonly StoreChange[], revision: number): Promise<void>;
  /** Called once, when no `persist` is under way. */
  close(): Promise<void>;
}
