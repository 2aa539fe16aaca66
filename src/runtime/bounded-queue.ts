import { onAbort } from './abort.ts';
import { assert } from './assert.ts';

/**
 * A first-in, first-out queue between tasks that holds at most `depthMax` items.
 *
 * 1. Producers call `push`, which returns immediately, or `pushWhenFree`, which waits for free space.
 * 2. Consumers call `pop` and wait for an item. Any number of either may wait; each side is served in the
 *    order in which it called, and no `push` overtakes a producer that waits.
 * 3. `close` ends it: it accepts nothing more, the remaining items can still be popped, then `pop` answers undefined.
 *
 * An accepted item is popped exactly once, and an item that was not accepted is counted in `refused`: nothing is lost
 * silently. Waiting resolves, never rejects, when the caller's signal aborts.
 */
export class BoundedQueue<T extends NonNullable<unknown>> {
  readonly depthMax: number;
  readonly #items = new Fifo<T>();
  /** Waiting consumers; not empty only while there are no items. A set, because a consumer in the middle may stop waiting. */
  readonly #consumers = new Set<(item: T | undefined) => void>();
  /** Waiting producers; not empty only while the queue is full. */
  readonly #producers = new Set<WaitingProducer<T>>();
  #isClosed = false;
  #refused = 0;

  constructor(depthMax: number) {
    assert(
      Number.isSafeInteger(depthMax) && depthMax > 0,
      `a queue holds at least one item, not ${depthMax}`,
    );
    this.depthMax = depthMax;
  }

  /** Items inside. */
  get depth(): number {
    return this.#items.length;
  }

  /** Items offered and not accepted: the queue was full or closed, or the producer stopped waiting. Only grows. */
  get refused(): number {
    return this.#refused;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the item was accepted; false when the queue is full or closed. */
  push(item: T): boolean {
    return this.#accept(item) || this.#refuse();
  }

  /** As `push`, but waits while the queue is full; false when it closed or `signal` aborted before there was free space. */
  async pushWhenFree(item: T, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#isClosed) return this.#refuse();
    if (this.#accept(item)) return true;
    return await new Promise((resolve) => {
      const producer: WaitingProducer<T> = {
        item,
        settle: (isAccepted) => {
          this.#producers.delete(producer);
          stopListening();
          resolve(isAccepted || this.#refuse());
        },
      };
      const stopListening = onAbort(signal, () => producer.settle(false));
      this.#producers.add(producer);
    });
  }

  /** The oldest item; waits for one if there is none. Undefined when the queue is closed and empty or `signal` aborted. */
  async pop(signal: AbortSignal): Promise<T | undefined> {
    if (signal.aborted) return undefined;
    const item = this.#items.shift();
    if (item !== undefined) this.#admitProducer();
    if (item !== undefined || this.#isClosed) return item;
    return await new Promise((resolve) => {
      const deliver = (delivered: T | undefined) => {
        this.#consumers.delete(deliver);
        stopListening();
        resolve(delivered);
      };
      const stopListening = onAbort(signal, () => deliver(undefined));
      this.#consumers.add(deliver);
    });
  }

  /** Accepts nothing more and wakes every waiting caller. May be called twice. */
  close(): void {
    this.#isClosed = true;
    for (const deliver of this.#consumers) deliver(undefined);
    for (const producer of this.#producers) producer.settle(false);
  }

  #accept(item: T): boolean {
    if (this.#isClosed || this.#items.length >= this.depthMax) return false;
    const [deliver] = this.#consumers;
    if (deliver === undefined) this.#items.push(item);
    else deliver(item);
    return true;
  }

  #refuse(): false {
    this.#refused += 1;
    return false;
  }

  #admitProducer(): void {
    const [producer] = this.#producers;
    if (producer !== undefined) producer.settle(this.#accept(producer.item));
  }
}

interface WaitingProducer<T> {
  readonly item: T;
  settle(isAccepted: boolean): void;
}

/** An array with a moving start: `Array.shift` alone copies the whole array once it is large. */
class Fifo<T> {
  #slots: (T | undefined)[] = [];
  #start = 0;

  get length(): number {
    return this.#slots.length - this.#start;
  }

  push(item: T): void {
    this.#slots.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#slots[this.#start];
    this.#slots[this.#start] = undefined;
    this.#start += 1;
    // Half of it is empty: moving the rest costs no more than the shifts that emptied it.
    if (this.#start * 2 >= this.#slots.length) {
      this.#slots = this.#slots.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }
}
