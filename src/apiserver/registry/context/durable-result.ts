import type { Store } from '../../store/store.ts';

/**
 * Returns the result of a write when everything that it was based on is durable. That is more than what the write
 * stored: an error such as `AlreadyExists`, a dry run, and a write that changes nothing reveal what others stored a
 * moment before.
 *
 * The write has run up to its first await when it gets here, so it has seen nothing newer than the store's current
 * revision. If that is rolled back, the result is the rollback's error, whatever the write returned.
 */
export async function resultWhenDurable<T>(store: Store, write: Promise<T>): Promise<T> {
  const seen = store.revision;
  try {
    return await write;
  } finally {
    await store.whenDurable(seen);
  }
}

/** The same for errors of reads. Successful reads wait for what they return, but an error may depend on the whole store. */
export async function errorWhenDurable<T>(store: Store, read: Promise<T>): Promise<T> {
  const seen = store.revision;
  try {
    return await read;
  } catch (error) {
    await store.whenDurable(seen);
    throw error;
  }
}
