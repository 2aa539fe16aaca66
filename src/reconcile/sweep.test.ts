import { afterEach, beforeEach, expect, test } from 'vitest';
import { Metrics } from '../runtime/metrics.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { rescuedCounter, Sweep } from './sweep.ts';
import { WorkQueue } from './work-queue.ts';
import { type Reconcile, type Requeue, runWorkers } from './workers.ts';

const minuteMs = 60_000;

let clock: VirtualClock;
let metrics: Metrics;
let queue: WorkQueue;
let sweep: Sweep;
let looks: string[];
let abort: AbortController;
let ended: Promise<unknown>;

beforeEach(() => {
  clock = new VirtualClock();
  metrics = new Metrics();
  queue = new WorkQueue({ clock });
  sweep = new Sweep({ clock, metrics }, { controller: 'toy', queue, keys: () => ['a', 'b'] });
  looks = [];
  abort = new AbortController();
});

afterEach(async () => {
  abort.abort();
  await ended;
});

function begin(reconcile: Reconcile): void {
  const { signal } = abort;
  const seen = sweep.wrap(async (key) => {
    looks.push(key);
    return await reconcile(key, signal);
  });
  ended = Promise.all([
    runWorkers(queue, seen, { workers: 2, signal, onError: () => {} }),
    sweep.run(signal),
  ]);
}

function rescued(): number {
  return rescuedCounter(metrics).value({ controller: 'toy' });
}

async function nothing(): Promise<Requeue | undefined> {
  return undefined;
}

test('every object is checked every five minutes, and nothing is counted if nothing is written', async () => {
  begin(nothing);
  await clock.advance(4 * minuteMs);
  expect(looks).toEqual([]);
  await clock.advance(7 * minuteMs);
  expect(looks).toEqual(['a', 'b', 'a', 'b']);
  expect(rescued()).toBe(0);
});

test('an object that a sweep had to write for is counted once, however many writes it took', async () => {
  begin(async (key) => {
    if (key !== 'a') return undefined;
    sweep.beforeWrite();
    await clock.sleep(10, abort.signal);
    sweep.beforeWrite();
    return undefined;
  });
  await clock.advance(6 * minuteMs);
  expect(looks).toEqual(['a', 'b']);
  expect(rescued()).toBe(1);
});

test('a write is not counted if an event caused it, or arrived during the check', async () => {
  begin(async (key) => {
    const isSwept = looks.length > 2;
    if (key === 'a' && isSwept) queue.add('c');
    if (key !== 'b') sweep.beforeWrite();
    return undefined;
  });
  queue.add('a');
  queue.add('c');
  await clock.advance(6 * minuteMs);
  expect(looks).toEqual(['a', 'c', 'a', 'c', 'b']);
  expect(rescued()).toBe(0);
});

test('a key that fails is retried by the queue, and the sweep skips it', async () => {
  begin(async (key) => {
    if (key === 'a') sweep.beforeWrite();
    if (key === 'a') throw new Error('not now');
    return undefined;
  });
  queue.add('a');
  await clock.advance(4 * minuteMs);
  const before = looks.length;
  await clock.advance(1.2 * minuteMs);
  expect(looks.slice(before)).toEqual(['b']);
  expect(rescued()).toBe(0);
});

test('a sweep waits while the controller is busy, and skips a round in which the controller is always busy', async () => {
  begin(async (key) => {
    if (key === 'busy') await clock.sleep(6.5 * minuteMs, abort.signal);
    return undefined;
  });
  queue.add('busy');
  await clock.advance(10 * minuteMs);
  expect(looks).toEqual(['busy']);
  await clock.advance(2 * minuteMs);
  expect(looks).toEqual(['busy', 'a', 'b']);
});

test('a sweep ends in the middle of a check', async () => {
  begin(async (_, signal) => {
    await clock.sleep(minuteMs, signal);
    return undefined;
  });
  await clock.advance(5 * minuteMs + 1);
  expect(looks).toEqual(['a']);
  abort.abort();
  await ended;
});
