import { isReason } from '../../kube/api-error.ts';
import type { Requeue } from '../../reconcile/workers.ts';

/** The object changed after it was read: its event is on the way, and the key runs again soon in any case. */
const conflictMs = 50;

/** Runs a write that carries the version that was read. A conflict is no failure: the key is reconciled again with the newer version. */
export async function ignoreConflict(write: () => Promise<void>): Promise<Requeue | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    if (isReason(error, 'Conflict')) return { afterMs: conflictMs };
    throw error;
  }
}
