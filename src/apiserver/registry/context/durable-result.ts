import type { Store } from '../../store/store.ts';

/**
 * The answer of a write, given when all that it was decided upon is durable. That is more than what the write has stored: a refusal
 * (`AlreadyExists`), a dry run and a write that changes nothing tell what somebody else has stored a moment ago.
 *
 * The write has run up to its first pause when it gets here, so it knows of nothing newer than what the store has now. Where that
 * is taken back, the answer is that failure, whatever the write would have said.
 */
export async function resultWhenDurable<T>(store: Store, write: Promise<T>): Promise<T> {
  const seen = store.revision;
  try {
    return await write;
  } finally {
    await store.whenDurable(seen);
  }
}

/** The same for reads: they wait by themselves for what they show, but what they refuse tells of the whole store. */
export async function errorWhenDurable<T>(store: Store, read: Promise<T>): Promise<T> {
  const seen = store.revision;
  try {
    return await read;
  } catch (error) {
    await store.whenDurable(seen);
    throw error;
  }
}
