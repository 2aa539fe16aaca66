import type { WorkQueue } from './work-queue.ts';

/**
 * Brings the cluster to the state that the object of `key` asks for. Level-based: it reads the current state, may run twice for one
 * change and once for many, and never at the same time as itself for the same key.
 *
 * Undefined: done. A `Requeue`: run again later. A rejection: it failed and is retried after a back-off that grows.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Requeue | undefined>;

export interface Requeue {
  /** When to run again; if left out, after the key's back-off. */
  readonly afterMs?: number;
}

export interface ReconcileWorkerOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  /** Called with every error of a reconcile function. Must neither throw nor wait. */
  readonly onError: (error: unknown, key: string) => void;
}

/** Works on the queue until `signal` aborts or the queue is shut down; resolves when no reconcile call is left running. */
export async function runWorkers(
  queue: WorkQueue,
  reconcile: Reconcile,
  options: ReconcileWorkerOptions,
): Promise<void> {
  const workers = Array.from({ length: options.workers }, () => work(queue, reconcile, options));
  await Promise.all(workers);
  if (options.signal.aborted) queue.cancelDelayed();
}

async function work(queue: WorkQueue, reconcile: Reconcile, options: ReconcileWorkerOptions): Promise<void> {
  for (;;) {
    const key = await queue.take(options.signal);
    if (key === undefined) return;
    try {
      settle(queue, key, await reconcile(key, options.signal));
    } catch (error) {
      // An error during shutdown is not a failure.
      if (!options.signal.aborted) options.onError(error, key);
      queue.retry(key);
    } finally {
      queue.done(key);
    }
  }
}

function settle(queue: WorkQueue, key: string, requeue: Requeue | undefined): void {
  if (requeue !== undefined && requeue.afterMs === undefined) {
    queue.retry(key);
    return;
  }
  queue.forget(key);
  if (requeue?.afterMs !== undefined) queue.addAfter(key, requeue.afterMs);
}
