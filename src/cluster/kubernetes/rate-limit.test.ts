import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { RateLimit } from './rate-limit.ts';

test('a burst is sent at once, the rest in order', async () => {
  const clock = new VirtualClock();
  const limit = new RateLimit({ tokensPerSecond: 10, burst: 3 }, clock);
  const { signal } = new AbortController();
  const gone: number[] = [];
  const waits = Array.from({ length: 6 }, async () => {
    await limit.turn(signal);
    gone.push(clock.monotonicMs());
  });
  await clock.advance(1_000);
  await Promise.all(waits);
  expect(gone).toEqual([0, 0, 0, 100, 200, 300]);
  expect(limit.waits).toBe(3);
});

test('a caller that stops waiting returns its token', async () => {
  const clock = new VirtualClock();
  const limit = new RateLimit({ tokensPerSecond: 1, burst: 1 }, clock);
  const { signal } = new AbortController();
  await limit.turn(signal);
  const controller = new AbortController();
  const reason = new Error('enough');
  const waiting = expect(limit.turn(controller.signal)).rejects.toBe(reason);
  controller.abort(reason);
  await waiting;
  const next = limit.turn(signal);
  await clock.advance(1_000);
  await next;
  expect(clock.pending).toBe(0);
});
