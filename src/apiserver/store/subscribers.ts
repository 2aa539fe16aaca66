import type { StoreChange, Subscription } from './store.ts';

/** The subscribers of changes, and the revision that each has received. */
export class Subscribers {
  readonly #byBucket = new Map<string, Set<Subscriber>>();

  /** `revision` is the newest that the subscriber knows or wants to skip. */
  add(bucket: string, revision: number, listener: Listener): Subscription {
    const subscriber: Subscriber = { listener, revision };
    const ofBucket = this.#byBucket.get(bucket);
    if (ofBucket === undefined) this.#byBucket.set(bucket, new Set([subscriber]));
    else ofBucket.add(subscriber);
    return { close: () => this.#remove(bucket, subscriber) };
  }

  /**
   * Notifies all subscribers of the changes up to `through`. `changesOf` returns a bucket's unpublished changes.
   * Listeners may subscribe, close any subscription and write meanwhile. A listener that throws is removed; the others
   * are still notified, and then the exception is rethrown.
   */
  publish(through: number, changesOf: (bucket: string) => readonly StoreChange[]): void {
    let failures: unknown[] | undefined;
    for (const [bucket, subscribers] of [...this.#byBucket]) {
      const changes = changesOf(bucket);
      if (changes.length === 0) continue;
      for (const subscriber of [...subscribers]) {
        if (!subscribers.has(subscriber)) continue;
        try {
          notify(subscriber, through, changes);
        } catch (error) {
          this.#remove(bucket, subscriber);
          failures ??= [];
          failures.push(error);
        }
      }
    }
    if (failures !== undefined) throw failures[0];
  }

  clear(): void {
    for (const subscribers of this.#byBucket.values()) subscribers.clear();
    this.#byBucket.clear();
  }

  #remove(bucket: string, subscriber: Subscriber): void {
    const ofBucket = this.#byBucket.get(bucket);
    if (ofBucket?.delete(subscriber) && ofBucket.size === 0) this.#byBucket.delete(bucket);
  }
}

type Listener = (changes: readonly StoreChange[]) => void;

interface Subscriber {
  readonly listener: Listener;
  revision: number;
}

/** Usually all changes are new to all subscribers, so that they share one array. */
function notify(subscriber: Subscriber, through: number, changes: readonly StoreChange[]): void {
  const { revision } = subscriber;
  const isAllNew = changes[0]!.entry.revision > revision;
  const newChanges = isAllNew ? changes : changes.filter(({ entry }) => entry.revision > revision);
  subscriber.revision = Math.max(revision, through);
  if (newChanges.length > 0) subscriber.listener(newChanges);
}
