import type { HistoryLimits } from '../history.ts';
import type { Store, StoreChange, StoreEntry } from '../store.ts';

/** Shortcuts for tests: texts instead of bytes, and writes that replace the newest revision. */

/** Opens a new, empty store. The contract closes the stores that it opened. */
export type OpenStore = (history?: Partial<HistoryLimits>) => Promise<Store>;

export function putText(store: Store, key: string, text: string, bucket = 'pods'): StoreEntry {
  return store.put(bucket, key, store.get(bucket, key)?.revision ?? 0, () => Buffer.from(text));
}

export function removeKey(store: Store, key: string, bucket = 'pods'): StoreEntry {
  return store.remove(bucket, key, store.get(bucket, key)?.revision ?? 0, () => Buffer.from('gone'));
}

export async function untilDurable(store: Store): Promise<void> {
  await store.whenDurable(store.revision);
}

export function entryText({ bytes }: StoreEntry): string {
  return Buffer.from(bytes).toString();
}

/** `a=1 b=2` */
export function describeEntries(entries: readonly StoreEntry[] | undefined): string | undefined {
  return entries?.map((entry) => `${entry.key}=${entryText(entry)}`).join(' ');
}

/** The changes that a subscriber received, as `put a=1` or `remove a=gone`, by batch. */
export class ChangeRecorder {
  readonly batches: string[][] = [];
  readonly revisions: number[] = [];

  readonly listener = (changes: readonly StoreChange[]): void => {
    this.batches.push(changes.map(({ type, entry }) => `${type} ${entry.key}=${entryText(entry)}`));
    this.revisions.push(...changes.map(({ entry }) => entry.revision));
  };

  get all(): string[] {
    return this.batches.flat();
  }
}
