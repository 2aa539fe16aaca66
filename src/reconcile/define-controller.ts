import type { Controller, ControllerContext } from './controller.ts';
import { runLoop } from './run-loop.ts';
import { Sweep } from './sweep.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
import type { Requeue } from './workers.ts';

/** A controller with one loop, or with several that start and wait independently of each other. */
export interface ControllerDefinition extends LoopDefinition {
  /** The name that `--controllers` accepts. */
  readonly name: string;
  /** Further loops, each with its own queue and workers. */
  readonly beside?: readonly LoopDefinition[];
}

export interface LoopDefinition {
  /** How many keys are reconciled at once. */
  readonly workers: number;
  /** The back-off of keys that failed; by default that of client-go. */
  readonly retry?: Pick<WorkQueueOptions, 'retryBaseMs' | 'retryMaxMs'>;
  /** Creates the reconciler of one run. Returns undefined if it has nothing to do, as in a cluster that does not serve its kind. */
  readonly create: (context: LoopContext) => Reconciler | undefined;
}

/** What a reconciler receives in addition to what every controller receives. */
export interface LoopContext extends ControllerContext {
  /** The keys to reconcile. `listen` and the reconciler add keys; only the workers take them. */
  readonly queue: WorkQueue;
  /** Called before each write, so that the sweep can count writes that an event should have caused. Without `sweepKeys` it has no effect. */
  readonly beforeWrite: () => void;
  /** Aborts at the end of the run. */
  readonly signal: AbortSignal;
}

/**
 * Brings the objects of its keys to the state that they ask for. Each run of a controller has its own reconciler, in this order:
 *
 * 1. `create` builds it. It keeps nothing of earlier runs: whatever has to survive a crash is in the objects.
 * 2. All `caches` are synced. Before that, the absence of an object means nothing, so nothing is decided.
 * 3. `listen` subscribes. Informers report every object that exists as added, so the queue starts with all work that is left.
 * 4. The workers call `reconcile`, for several keys at once, but never twice at once for one key.
 * 5. Every five minutes the sweep adds each of the `sweepKeys`, one by one, while the queue is idle; see `Sweep`.
 * 6. When the signal aborts, the workers finish the keys that they have taken, the subscriptions end, then `close` is called.
 */
export interface Reconciler {
  readonly caches: readonly { synced(signal: AbortSignal): Promise<boolean> }[];
  /** Subscribes to changes, and adds the keys of affected objects to the queue. The returned functions end the subscriptions. */
  listen(): readonly (() => void)[];
  /**
   * Level-based: the key only names an object. Reads its current state, decides, and writes with uid and resourceVersion; running it twice
   * changes nothing, and a crash after any write loses nothing.
   *
   * Undefined: done. A `Requeue`: run again after that time, or after the key's back-off. A rejection: the error is reported, and the key is
   * retried after its back-off, which grows with each failure.
   */
  reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined>;
  /** The keys that the sweep checks, from the caches: objects that need something, and do not wait for a retry. Without it, there is no sweep. */
  sweepKeys?(): Iterable<string>;
  /** Waits for what the reconciler has started besides. */
  close?(): Promise<void>;
}

export function defineController({ name, beside = [], ...first }: ControllerDefinition): Controller {
  const run: Controller['run'] = async (context, signal) => {
    await Promise.all([first, ...beside].map((loop) => runReconciler(context, name, loop, signal)));
  };
  return { name, run };
}

/** Runs one loop until `signal` aborts, for controllers that also do other work than reconciling keys. */
export async function runReconciler(
  context: ControllerContext,
  controller: string,
  { workers, retry, create }: LoopDefinition,
  signal: AbortSignal,
): Promise<void> {
  const queue = new WorkQueue({ clock: context.clock, ...retry });
  let sweep: Sweep | undefined;
  const beforeWrite = () => sweep?.beforeWrite();
  const reconciler = create({ ...context, queue, beforeWrite, signal });
  if (reconciler === undefined) return;
  const { caches, sweepKeys } = reconciler;
  if (sweepKeys !== undefined)
    sweep = new Sweep(context, { controller, queue, keys: () => sweepKeys.call(reconciler) });
  const reconcileKey = (key: string) => reconciler.reconcile(key, signal);
  const reconcile = sweep?.wrap(reconcileKey) ?? reconcileKey;
  const loop = { controller, caches, listen: () => reconciler.listen(), queue, reconcile, workers };
  try {
    await Promise.all([runLoop(context, loop, signal), sweep?.run(signal)]);
  } finally {
    await reconciler.close?.();
  }
}
