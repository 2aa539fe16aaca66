import { describe, expect, test } from 'vitest';
import { seededRandom } from '../runtime/random.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
import { type Reconcile, runWorkers } from './workers.ts';

const never = new AbortController().signal;

function begin(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, ...options });
  return { clock, queue };
}

async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.metrics().depth > 0) keys.push((await queue.take(never)) ?? '?');
  return keys;
}

describe('a work queue', () => {
  test('hands out keys in order, each once however often it was added', async () => {
    const { queue } = begin();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(await takeAll(queue)).toEqual(['a', 'b', 'c']);
    expect(queue.metrics().adds).toBe(3);
  });

  test('runs a key again that was added while it was being processed, but not before it is done', async () => {
    const { queue } = begin();
    queue.add('a');
    await queue.take(never);
    queue.add('a');
    queue.add('a');
    expect(queue.metrics().depth).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
    queue.done('a');
    expect(queue.metrics()).toMatchObject({ depth: 0, processing: 0 });
  });

  test('gives a key to the waiting workers, in the order in which they came', async () => {
    const { queue } = begin();
    const takes = [queue.take(never), queue.take(never)];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(takes)).toEqual(['a', 'b']);
  });

  test('releases a worker when its signal aborts, without losing a key', async () => {
    const { queue } = begin();
    const controller = new AbortController();
    const take = queue.take(controller.signal);
    controller.abort();
    expect(await take).toBeUndefined();
    queue.add('a');
    expect(await takeAll(queue)).toEqual(['a']);
  });

  test('uses the earliest of several delays', async () => {
    const { clock, queue } = begin();
    queue.addAfter('a', 500);
    queue.addAfter('a', 200);
    queue.addAfter('a', 900);
    await clock.advance(199);
    expect(queue.metrics()).toMatchObject({ depth: 0, delayed: 1 });
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(['a']);
    expect(clock.pending).toBe(0);
  });

  test('retries after a back-off that doubles up to its maximum, and starts again once forgotten', async () => {
    const { clock, queue } = begin();
    const delays: number[] = [];
    const measure = async () => {
      const startMs = clock.monotonicMs();
      queue.retry('a');
      await clock.runUntilIdle(1);
      delays.push(clock.monotonicMs() - startMs);
      await queue.take(never);
      queue.done('a');
    };
    for (let i = 0; i < 20; i += 1) await measure();
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.at(-1)).toBe(1_000_000);
    expect(queue.failures('a')).toBe(20);
    queue.forget('a');
    await measure();
    expect(delays.at(-1)).toBe(5);
  });

  test('limits the retries of all keys together', async () => {
    const { clock, queue } = begin({ retryBucket: { tokensPerSecond: 10, burst: 5 } });
    for (let i = 0; i < 25; i += 1) queue.retry(`k${i}`);
    await clock.advance(5);
    expect(queue.metrics().depth).toBe(5);
    await clock.advance(1_000);
    expect(queue.metrics().depth).toBe(15);
  });

  test('after a shutdown that drains, hands out the waiting keys and nothing else', async () => {
    const { clock, queue } = begin();
    queue.add('a');
    queue.add('b');
    queue.addAfter('later', 10);
    await queue.take(never);
    const down = queue.shutDown({ drain: true });
    queue.add('c');
    expect(await queue.take(never)).toBe('b');
    expect(await queue.take(never)).toBeUndefined();
    queue.done('a');
    queue.done('b');
    await down;
    expect(clock.pending).toBe(0);
  });

  test('after a shutdown that does not drain, hands out nothing, and waits for the keys in progress', async () => {
    const { queue } = begin();
    queue.add('a');
    queue.add('b');
    await queue.take(never);
    let isDown = false;
    const down = queue.shutDown({ drain: false }).then(() => {
      isDown = true;
    });
    expect(await queue.take(never)).toBeUndefined();
    expect(isDown).toBe(false);
    queue.done('a');
    await down;
  });

  test('fails if a key is done that no worker had taken', () => {
    const { queue } = begin();
    queue.add('a');
    expect(() => queue.done('a')).toThrow('no worker had taken it');
  });
});

describe('workers', () => {
  function work(reconcile: Reconcile, workers = 2) {
    const { clock, queue } = begin();
    const controller = new AbortController();
    const errors: string[] = [];
    const onError = (error: unknown, key: string) => void errors.push(`${key}: ${error}`);
    const ended = runWorkers(queue, reconcile, { workers, signal: controller.signal, onError });
    return { clock, queue, controller, ended, errors };
  }

  test('requeue keys on request, and retry keys that throw until they succeed', async () => {
    const runs: string[] = [];
    let failuresLeft = 3;
    const { clock, queue, controller, ended, errors } = work(async (key) => {
      runs.push(`${key}@${clock.monotonicMs()}`);
      if (key === 'poll' && runs.length < 6) return { afterMs: 100 };
      if (key === 'flaky' && failuresLeft-- > 0) throw new Error('not yet');
      return undefined;
    });
    queue.add('poll');
    queue.add('flaky');
    await clock.advance(1_000);
    controller.abort();
    await ended;
    expect(runs).toEqual(['poll@0', 'flaky@0', 'flaky@5', 'flaky@15', 'flaky@35', 'poll@100']);
    expect(errors).toEqual(Array(3).fill('flaky: Error: not yet'));
    expect(queue.failures('flaky')).toBe(0);
  });

  test('never process one key twice at once, and miss no change, however adds and runs interleave', async () => {
    const random = seededRandom('interleave');
    const running = new Set<string>();
    const wanted = new Map<string, number>();
    const reached = new Map<string, number>();
    const { clock, queue, controller, ended } = work(async (key, signal) => {
      expect(running.has(key)).toBe(false);
      running.add(key);
      const seen = wanted.get(key) ?? 0;
      await clock.sleep(random.int(20), signal);
      running.delete(key);
      if (random.int(4) === 0) throw new Error('by chance');
      reached.set(key, seen);
      return undefined;
    }, 4);
    for (let i = 0; i < 2_000; i += 1) {
      const key = `k${random.int(10)}`;
      wanted.set(key, i);
      queue.add(key);
      if (random.int(3) === 0) await clock.advance(random.int(10));
    }
    await clock.advance(3_600_000);
    expect(reached).toEqual(wanted);
    controller.abort();
    await ended;
  });
});
