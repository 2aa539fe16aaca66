import type { ControllerContext } from './controller.ts';
import type { WorkQueue } from './work-queue.ts';
import { type Reconcile, runWorkers } from './workers.ts';

/** The parts of one loop of a controller. */
export interface ReconcileLoop {
  readonly controller: string;
  /** These must be synced before anything is decided. */
  readonly caches: readonly { synced(signal: AbortSignal): Promise<boolean> }[];
  /** Starts to fill the queue; the returned functions end that. */
  listen(): readonly (() => void)[];
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  readonly workers: number;
}

/** Waits for the caches, subscribes, and works on the queue until `signal` aborts. Failures are reported and retried. */
export async function runLoop(
  { report }: Pick<ControllerContext, 'report'>,
  { controller, caches, listen, queue, reconcile, workers }: ReconcileLoop,
  signal: AbortSignal,
): Promise<void> {
  const synced = await Promise.all(caches.map((cache) => cache.synced(signal)));
  if (!synced.every(Boolean)) return;
  const stop = listen();
  try {
    const onError = (error: unknown, key: string) => report({ controller, key, error });
    await runWorkers(queue, reconcile, { workers, signal, onError });
  } finally {
    for (const end of stop) end();
  }
}
