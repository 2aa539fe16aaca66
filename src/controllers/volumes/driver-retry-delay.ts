import type { DoublingDelay } from '../../runtime/keyed-back-off.ts';

/**
 * The defaults of external-resizer. The back-off of the work queue is not enough: recording a failure changes the object, and the change queues
 * its key again.
 */
export const driverRetryDelay: DoublingDelay = { initialMs: 1_000, maxMs: 5 * 60_000 };
