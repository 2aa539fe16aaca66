import { isReason } from '../kube/api-error.ts';
import type { Requeue } from './workers.ts';

/** The event of the change is on the way, and the key runs again soon in any case. */
const staleMs = 50;

/**
 * Runs writes that were decided from the caches, and that carry the versions found there. A write that fails because its object has changed or was
 * deleted is not a failure: the key is reconciled again with the current objects.
 */
export async function retryIfStale(write: () => Promise<void>): Promise<Requeue | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return { afterMs: staleMs };
    throw error;
  }
}
