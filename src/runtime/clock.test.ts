import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { InvariantError } from './assert.ts';
import { type Clock, realClock } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

interface Fixture {
  readonly name: string;
  create(): { readonly clock: Clock; pass(ms: number): Promise<void> };
}

const fixtures: readonly Fixture[] = [
  {
    name: 'the real clock',
    create: () => ({ clock: realClock, pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }),
  },
  {
    name: 'a virtual clock',
    create: () => {
      const clock = new VirtualClock();
      return { clock, pass: (ms) => clock.advance(ms) };
    },
  },
];

/** Long enough for the real clock to have fired what was due well before. */
const laterMs = 30;

describe.each(fixtures)('$name', ({ create }) => {
  const never = new AbortController().signal;

  test('moves both of its times forward', async () => {
    const { clock, pass } = create();
    const wallMs = clock.nowMs();
    const monotonicMs = clock.monotonicMs();
    await pass(laterMs);
    // Timers may end a little early, and the wall clock counts whole milliseconds.
    expect(clock.nowMs() - wallMs).toBeGreaterThanOrEqual(laterMs - 2);
    expect(clock.monotonicMs() - monotonicMs).toBeGreaterThanOrEqual(laterMs - 2);
  });

  test.each([0, 1, 2.5, 10])('never calls back before its time (%s ms)', async (ms) => {
    const { clock, pass } = create();
    const startedMs = clock.monotonicMs();
    let calledMs: number | undefined;
    clock.after(ms, () => {
      calledMs = clock.monotonicMs();
    });
    expect(calledMs).toBeUndefined();
    await pass(laterMs);
    expect(calledMs).toBeGreaterThanOrEqual(startedMs + ms);
  });

  test('treats a deadline that has passed as due now', async () => {
    const { clock, pass } = create();
    let calls = 0;
    clock.after(-1_000, () => {
      calls += 1;
    });
    expect(calls).toBe(0);
    await pass(laterMs);
    expect(calls).toBe(1);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a delay of %s', (ms) => {
    const { clock } = create();
    expect(() => clock.after(ms, () => {})).toThrow(InvariantError);
  });

  test('does not call back after cancel, however long the delay', async () => {
    const { clock, pass } = create();
    for (const ms of [1, 2 ** 31, 2 ** 40]) {
      const timer = clock.after(ms, () => expect.unreachable('cancelled'));
      timer.cancel();
      timer.cancel();
    }
    await pass(laterMs);
  });

  test('waits out a delay longer than setTimeout can take', async () => {
    const { clock, pass } = create();
    const timer = clock.after(2 ** 31, () => expect.unreachable('24 days have not passed'));
    await pass(laterMs);
    timer.cancel();
  });

  test('sleeps until its time and leaves no listener behind', async () => {
    const { clock, pass } = create();
    const { signal } = new AbortController();
    const startedMs = clock.monotonicMs();
    let wokenMs: number | undefined;
    const sleeping = clock.sleep(5, signal).then(() => {
      wokenMs = clock.monotonicMs();
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await pass(laterMs);
    await sleeping;
    expect(wokenMs).toBeGreaterThanOrEqual(startedMs + 5);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends a sleep when its signal aborts, by resolving', async () => {
    const { clock } = create();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000_000, controller.signal);
    controller.abort();
    await sleeping;
    await clock.sleep(1_000_000, controller.signal);
  });

  test('lets many sleep at once', async () => {
    const { clock, pass } = create();
    const sleeping = Promise.all(Array.from({ length: 100 }, () => clock.sleep(1, never)));
    await pass(laterMs);
    expect(await sleeping).toHaveLength(100);
  });
});

test('the real clock makes a long delay of several timeouts, and is on time to the millisecond', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const startedMs = realClock.monotonicMs();
    let calledMs: number | undefined;
    realClock.after(2 ** 32, () => {
      calledMs = realClock.monotonicMs();
    });
    vi.advanceTimersToNextTimer();
    expect(realClock.monotonicMs() - startedMs).toBe(2 ** 31 - 1);
    expect(calledMs).toBeUndefined();
    vi.advanceTimersByTime(2 ** 32);
    expect(calledMs).toBe(startedMs + 2 ** 32);
  } finally {
    vi.useRealTimers();
  }
});
