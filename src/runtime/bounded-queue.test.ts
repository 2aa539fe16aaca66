import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedQueue } from './bounded-queue.ts';

const never = new AbortController().signal;

describe('pushing', () => {
  test('accepts items until the queue is full, then refuses and counts', async () => {
    const queue = new BoundedQueue<string>(2);
    expect([queue.push('a'), queue.push('b'), queue.push('c')]).toEqual([true, true, false]);
    expect(queue.depth).toBe(2);
    expect(queue.refused).toBe(1);
    expect(await queue.pop(never)).toBe('a');
    expect(queue.push('d')).toBe(true);
  });

  test('may wait for free space, in order of arrival, and no later push overtakes', async () => {
    const queue = new BoundedQueue<string>(1);
    queue.push('a');
    const waiting = [queue.pushWhenFree('b', never), queue.pushWhenFree('c', never)];
    expect(queue.push('late')).toBe(false);
    expect([await queue.pop(never), await queue.pop(never), await queue.pop(never)]).toEqual(['a', 'b', 'c']);
    expect(await Promise.all(waiting)).toEqual([true, true]);
  });

  test('stops waiting when its signal aborts, and the item counts as refused', async () => {
    const queue = new BoundedQueue<string>(1);
    const stop = new AbortController();
    queue.push('a');
    const waiting = queue.pushWhenFree('b', stop.signal);
    stop.abort();
    expect(await waiting).toBe(false);
    expect(await queue.pushWhenFree('c', stop.signal)).toBe(false);
    expect(queue.refused).toBe(2);
    expect(await queue.pop(never)).toBe('a');
    expect(queue.depth).toBe(0);
  });
});

describe('popping', () => {
  test('waits for an item; waiting consumers are served in order', async () => {
    const queue = new BoundedQueue<string>(5);
    const waiting = [queue.pop(never), queue.pop(never)];
    queue.push('a');
    queue.push('b');
    expect(await Promise.all(waiting)).toEqual(['a', 'b']);
  });

  test('stops waiting when its signal aborts, and the next in line gets the item', async () => {
    const queue = new BoundedQueue<string>(5);
    const stop = new AbortController();
    const impatient = queue.pop(stop.signal);
    const patient = queue.pop(never);
    stop.abort();
    queue.push('a');
    expect(await impatient).toBeUndefined();
    expect(await patient).toBe('a');
  });

  test('with a signal that has aborted leaves the item for others', async () => {
    const queue = new BoundedQueue<string>(5);
    queue.push('a');
    expect(await queue.pop(AbortSignal.abort())).toBeUndefined();
    expect(queue.depth).toBe(1);
  });

  test('delivers an item that was handed over just before the abort', async () => {
    const queue = new BoundedQueue<string>(5);
    const stop = new AbortController();
    const waiting = queue.pop(stop.signal);
    queue.push('a');
    stop.abort();
    expect(await waiting).toBe('a');
  });
});

describe('closing', () => {
  test('accepts nothing more, and lets the remaining items be popped', async () => {
    const queue = new BoundedQueue<string>(5);
    queue.push('a');
    queue.close();
    queue.close();
    expect(queue.isClosed).toBe(true);
    expect(queue.push('b')).toBe(false);
    expect(await queue.pushWhenFree('c', never)).toBe(false);
    expect(queue.refused).toBe(2);
    expect(await queue.pop(never)).toBe('a');
    expect(await queue.pop(never)).toBeUndefined();
  });

  test('wakes every waiting caller', async () => {
    const empty = new BoundedQueue<string>(1);
    const consumers = [empty.pop(never), empty.pop(never)];
    empty.close();
    expect(await Promise.all(consumers)).toEqual([undefined, undefined]);

    const full = new BoundedQueue<string>(1);
    full.push('a');
    const producers = [full.pushWhenFree('b', never), full.pushWhenFree('c', never)];
    full.close();
    expect(await Promise.all(producers)).toEqual([false, false]);
    expect(full.refused).toBe(2);
  });
});

test('waiting leaves no listener on the signal', async () => {
  const queue = new BoundedQueue<number>(1);
  const { signal } = new AbortController();
  for (let round = 0; round < 3; round += 1) {
    const popped = queue.pop(signal);
    queue.push(round);
    expect(await popped).toBe(round);
    queue.push(round);
    const pushed = queue.pushWhenFree(round, signal);
    await queue.pop(signal);
    await queue.pop(signal);
    expect(await pushed).toBe(true);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([0, -1, 1.5, Number.NaN])('a depth of %s is refused', (depthMax) => {
  expect(() => new BoundedQueue(depthMax)).toThrow('at least one');
});

/**
 * The simple version: one array of items inside and waiting to get in, one of consumers waiting for an item. Items are
 * numbered in the order in which they are offered; consumers in the order in which they ask.
 */
class ModelQueue {
  readonly popped = new Map<number, number | undefined>();
  readonly inside: number[] = [];
  readonly waitingItems: number[] = [];
  readonly waitingConsumers: number[] = [];
  refused = 0;
  readonly #depthMax: number;

  constructor(depthMax: number) {
    this.#depthMax = depthMax;
  }

  offer(item: number, mayWait: boolean): void {
    const hasRoom = this.inside.length < this.#depthMax;
    if (hasRoom) this.inside.push(item);
    else if (mayWait) this.waitingItems.push(item);
    else this.refused += 1;
    this.#settle();
  }

  ask(consumer: number): void {
    this.waitingConsumers.push(consumer);
    this.#settle();
  }

  giveUp(): void {
    for (const consumer of this.waitingConsumers.splice(0)) this.popped.set(consumer, undefined);
    this.refused += this.waitingItems.splice(0).length;
  }

  #settle(): void {
    while (this.inside.length > 0 && this.waitingConsumers.length > 0) {
      this.popped.set(this.waitingConsumers.shift()!, this.inside.shift());
      const admitted = this.waitingItems.shift();
      if (admitted !== undefined) this.inside.push(admitted);
    }
  }
}

test('any mix of pushing, waiting, popping and giving up behaves like an array', async () => {
  const commands = fc.array(fc.constantFrom('push', 'push-wait', 'pop', 'pop', 'abort'), { maxLength: 60 });
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 4 }), commands, async (depthMax, steps) => {
    const queue = new BoundedQueue<number>(depthMax);
    const model = new ModelQueue(depthMax);
    const popped = new Map<number, number | undefined>();
    const pending: Promise<unknown>[] = [];
    let stop = new AbortController();
    const giveUp = () => {
      stop.abort();
      stop = new AbortController();
      model.giveUp();
    };
    steps.forEach((step, id) => {
      if (step === 'push') queue.push(id);
      else if (step === 'push-wait') pending.push(queue.pushWhenFree(id, stop.signal));
      else if (step === 'pop') pending.push(queue.pop(stop.signal).then((item) => popped.set(id, item)));
      else giveUp();

      if (step === 'push' || step === 'push-wait') model.offer(id, step === 'push-wait');
      else if (step === 'pop') model.ask(id);
      expect(queue.depth).toBe(model.inside.length);
    });
    giveUp();
    await Promise.all(pending);
    expect(popped).toEqual(model.popped);
    expect(queue.refused).toBe(model.refused);
  });
  await fc.assert(property);
});

test('a long run through a deep queue keeps its order', async () => {
  const queue = new BoundedQueue<number>(1_000);
  let pushed = 0;
  let popped = 0;
  for (let round = 0; round < 200; round += 1) {
    for (let burst = 0; burst < 50 + (round % 7); burst += 1) if (queue.push(pushed)) pushed += 1;
    for (let burst = 0; burst < 50; burst += 1) {
      expect(await queue.pop(never)).toBe(popped);
      popped += 1;
    }
  }
  expect(queue.depth).toBe(pushed - popped);
});
