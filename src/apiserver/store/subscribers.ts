import type { StoreChange, Subscription } from './store.ts';

/** Those who want to hear of changes, and how far each of them has been told. */
export class Subscribers {
  readonly #byBucket = new Map<string, Set<Subscriber>>();

  /** `revision` is the newest that the subscriber knows, or does not want to know. */
  add(bucket: string, revision: number, listener: Listener): Subscription {
    const subscriber: Subscriber = { listener, revision };
    const ofBucket = this.#byBucket.get(bucket);
    if (ofBucket === undefined) this.#byBucket.set(bucket, new Set([subscriber]));
    else ofBucket.add(subscriber);
    return { close: () => this.#remove(bucket, subscriber) };
  }

  /**
   * Tells everybody about the changes up to `through`. `changesOf` gives those of a bucket that have not been published.
   * Listeners may subscribe, close any subscription and write while they are told. One that throws is not told again; the others are
   * told all the same, and then what it threw is thrown.
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

/** Almost always nobody has heard of any of them, and all subscribers share one array. */
function notify(subscriber: Subscriber, through: number, changes: readonly StoreChange[]): void {
  const { revision } = subscriber;
  const isAllNew = changes[0]!.entry.revision > revision;
  const news = isAllNew ? changes : changes.filter(({ entry }) => entry.revision > revision);
  subscriber.revision = Math.max(revision, through);
  if (news.length > 0) subscriber.listener(news);
}
