import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

const never = new AbortController().signal;

test('time stands still until it is advanced', async () => {
  const clock = new VirtualClock(Date.UTC(2030, 5, 1));
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(clock.monotonicMs()).toBe(0);
  await clock.advance(1_500);
  expect(clock.monotonicMs()).toBe(1_500);
  expect(clock.nowMs()).toBe(Date.UTC(2030, 5, 1) + 1_500);
});

test('a timer fires at exactly its due time, the last instant of an advance included', async () => {
  const clock = new VirtualClock();
  const firedMs: number[] = [];
  for (const ms of [10, 20, 21]) clock.after(ms, () => firedMs.push(clock.monotonicMs()));
  await clock.advance(20);
  expect(firedMs).toEqual([10, 20]);
  expect(clock.pending).toBe(1);
});

test('a delay takes whole milliseconds, so that waiting for the rest of a deadline comes to an end', async () => {
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  // Fractions of milliseconds, as random delays have them: for some of these the rest was too short to move time.
  const waits = Array.from({ length: 100 }, async (_, number) => {
    await clock.sleep(number / 7, signal);
    const sinceMs = clock.monotonicMs();
    await clock.sleep(number / 3, signal);
    let count = 0;
    for (let restMs = 1; restMs > 0 && count < 10; count += 1) {
      restMs = 30_000 - (clock.monotonicMs() - sinceMs);
      await clock.sleep(restMs, signal);
    }
    return count;
  });
  await clock.advance(40_000);
  expect(Math.max(...(await Promise.all(waits)))).toBe(2);
});

test('timers due together fire in order of creation, also one that is set by another', async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.after(5, () => {
    fired.push('first');
    clock.after(0, () => fired.push('third'));
  });
  clock.after(5, () => fired.push('second'));
  await clock.advance(5);
  expect(fired).toEqual(['first', 'second', 'third']);
});

test('work that a timer starts settles before the next timer fires', async () => {
  const clock = new VirtualClock();
  const events: string[] = [];
  const longChain = async () => {
    for (let link = 0; link < 1_000; link += 1) await undefined;
    events.push('chain done');
  };
  clock.after(1, () => {
    events.push('first');
    void longChain();
  });
  clock.after(1, () => events.push('second'));
  await clock.advance(1);
  expect(events).toEqual(['first', 'chain done', 'second']);
});

test('a loop of sleeps runs once per period, also when one advance spans many', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const wokenMs: number[] = [];
  const loop = async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(10, stop.signal);
      wokenMs.push(clock.monotonicMs());
    }
  };
  const looping = loop();
  await clock.advance(35);
  expect(wokenMs).toEqual([10, 20, 30]);
  stop.abort();
  await looping;
  expect(clock.pending).toBe(0);
});

test('a sleep that was aborted and a timer that was cancelled are no longer pending', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sleeping = clock.sleep(10, stop.signal);
  const timer = clock.after(10, () => expect.unreachable('cancelled'));
  expect(clock.pending).toBe(2);
  timer.cancel();
  stop.abort();
  expect(clock.pending).toBe(0);
  await sleeping;
  await clock.advance(20);
});

describe('running until idle', () => {
  test('moves from timer to timer until none is left', async () => {
    const clock = new VirtualClock();
    let wokenMs: number | undefined;
    const sleeper = async () => {
      for (const ms of [1_000, 86_400_000]) await clock.sleep(ms, never);
      wokenMs = clock.monotonicMs();
    };
    const sleeping = sleeper();
    expect(await clock.runUntilIdle(100)).toBe(true);
    await sleeping;
    expect(wokenMs).toBe(86_401_000);
  });

  test('stops at its bound when the work never ends, and reports it', async () => {
    const clock = new VirtualClock();
    let fired = 0;
    const again = () => {
      fired += 1;
      clock.after(1, again);
    };
    clock.after(1, again);
    expect(await clock.runUntilIdle(50)).toBe(false);
    expect(fired).toBe(50);
    expect(await clock.runUntilIdle(1)).toBe(false);
    expect(clock.monotonicMs()).toBe(51);
  });
});

test('a callback that throws ends the advance with its error, and the clock stays usable', async () => {
  const clock = new VirtualClock();
  let fired = false;
  clock.after(1, () => {
    throw new Error('broken callback');
  });
  clock.after(2, () => {
    fired = true;
  });
  await expect(clock.advance(5)).rejects.toThrow('broken callback');
  expect(clock.monotonicMs()).toBe(1);
  await clock.advance(5);
  expect(fired).toBe(true);
});

test('only one driver at a time may move it', async () => {
  const clock = new VirtualClock();
  const advancing = clock.advance(1);
  await expect(clock.advance(1)).rejects.toThrow('one driver');
  await advancing;
});

test('the wall clock can be set without effect on monotonic time and timers', async () => {
  const clock = new VirtualClock(1_000_000);
  let firedMs: number | undefined;
  clock.after(10, () => {
    firedMs = clock.monotonicMs();
  });
  clock.shiftWall(-3_600);
  expect(clock.nowMs()).toBe(996_400);
  await clock.advance(10);
  expect(firedMs).toBe(10);
});

test('any timers, some cancelled, fire in the order of a stable sort by due time', async () => {
  const timer = fc.record({ ms: fc.integer({ min: 0, max: 12 }), isCancelled: fc.boolean() });
  const advances = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(fc.array(timer, { maxLength: 40 }), advances, async (timers, steps) => {
    const clock = new VirtualClock();
    const fired: { readonly id: number; readonly atMs: number }[] = [];
    const handles = timers.map(({ ms }, id) =>
      clock.after(ms, () => fired.push({ id, atMs: clock.monotonicMs() })),
    );
    timers.forEach(({ isCancelled }, id) => {
      if (isCancelled) handles[id]?.cancel();
    });
    for (const ms of steps) await clock.advance(ms);

    const endMs = steps.reduce((total, ms) => total + ms, 0);
    const expected = timers
      .map(({ ms, isCancelled }, id) => ({ id, atMs: ms, isCancelled }))
      .filter(({ isCancelled }) => !isCancelled)
      .toSorted((a, b) => a.atMs - b.atMs);
    const due = expected.filter(({ atMs }) => atMs <= endMs);
    expect(fired).toEqual(due.map(({ id, atMs }) => ({ id, atMs })));
    expect(clock.pending).toBe(expected.length - due.length);
  });
  await fc.assert(property);
});

test('timers that set timers never see time go back, and never fire early or late', async () => {
  const delays = fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }), { maxLength: 8 });
  const property = fc.asyncProperty(delays, async (chains) => {
    const clock = new VirtualClock();
    const seenMs: number[] = [];
    const run = async (chain: readonly number[]) => {
      for (const ms of chain) {
        const dueMs = clock.monotonicMs() + ms;
        await clock.sleep(ms, never);
        expect(clock.monotonicMs()).toBe(dueMs);
        seenMs.push(dueMs);
      }
    };
    const running = Promise.all(chains.map(run));
    expect(await clock.runUntilIdle(1_000)).toBe(true);
    await running;
    expect(seenMs).toEqual(seenMs.toSorted((a, b) => a - b));
  });
  await fc.assert(property);
});
