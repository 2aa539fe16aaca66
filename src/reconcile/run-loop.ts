import type { ControllerContext } from './controller.ts';
import type { WorkQueue } from './work-queue.ts';
import { type Reconcile, runWorkers } from './workers.ts';

/** What one loop of a controller consists of. */
export interface ReconcileLoop {
  readonly controller: string;
  /** What has to be known before anything is decided. */
  readonly caches: readonly { synced(signal: AbortSignal): Promise<boolean> }[];
  /** Begins to fill the queue; the returned functions end that. */
  listen(): readonly (() => void)[];
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  readonly workers: number;
}

/** Waits for the caches, listens, and works on the queue until `signal` aborts. What fails is reported and tried again. */
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
