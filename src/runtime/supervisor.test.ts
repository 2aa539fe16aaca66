import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { exponentialBackoff } from './backoff.ts';
import { seededRandom } from './random.ts';
import type { Crash } from './supervised-task.ts';
import { Supervisor, type SupervisorOptions } from './supervisor.ts';
import { VirtualClock } from './virtual-clock.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

/** Ignores its signal, so a supervisor cannot end it. */
const stubborn = () => new Promise<void>(() => {});

function setUp(options: Partial<SupervisorOptions> = {}) {
  const clock = new VirtualClock();
  const crashes: Crash[] = [];
  const supervisor = new Supervisor({
    clock,
    random: seededRandom('supervisor'),
    onCrash: (crash) => crashes.push(crash),
    backoff: exponentialBackoff({ baseMs: 100, maxMs: 1_000, factor: 2, jitter: 'equal' }),
    steadyMs: 60_000,
    stopDeadlineMs: 5_000,
    ...options,
  });
  return { clock, crashes, supervisor };
}

describe('starting', () => {
  test('returns before the work runs', async () => {
    const { clock, supervisor } = setUp();
    let runs = 0;
    const work = supervisor.start('counter', async () => {
      runs += 1;
    });
    expect(runs).toBe(0);
    await clock.advance(0);
    expect(runs).toBe(1);
    await work.ended;
  });

  test('gives work a name of its own, free again when the work is over', async () => {
    const { supervisor } = setUp();
    const first = supervisor.start('watch', untilAborted);
    expect(() => supervisor.start('watch', untilAborted)).toThrow('watch');
    await first.stop();
    const second = supervisor.start('watch', async () => {});
    await second.ended;
    supervisor.start('watch', untilAborted);
    expect(await supervisor.close()).toEqual([]);
  });

  test('waits for the end of work of the same name that was stopped', async () => {
    const { clock, supervisor } = setUp();
    const history: string[] = [];
    const slow = (name: string) => async (signal: AbortSignal) => {
      history.push(`${name} starts`);
      await untilAborted(signal);
      await clock.sleep(8_000, new AbortController().signal);
      history.push(`${name} ends`);
    };
    const first = supervisor.start('watch', slow('first'));
    await clock.advance(0);
    const stopped = first.stop();
    const second = supervisor.start('watch', slow('second'));
    expect(() => supervisor.start('watch', untilAborted)).toThrow('already running');
    await clock.advance(6_000);
    expect(await stopped).toBe(false);
    expect(history).toEqual(['first starts']);
    await clock.advance(2_000);
    expect(history).toEqual(['first starts', 'first ends', 'second starts']);
    expect(supervisor.status().tasks.map(({ name }) => name)).toEqual(['watch']);
    const secondStopped = second.stop();
    const third = supervisor.start('watch', slow('third'));
    const thirdStopped = third.stop();
    await clock.advance(8_000);
    expect([await secondStopped, await thirdStopped]).toEqual([false, false]);
    expect(history.slice(3)).toEqual(['second ends']);
    expect(supervisor.status().tasks).toEqual([]);
  });
});

test('work may pass its signal to any number of calls without a warning of a leak', async () => {
  const { clock, supervisor } = setUp();
  const warnings: Error[] = [];
  const collect = (warning: Error) => warnings.push(warning);
  process.on('warning', collect);
  supervisor.start('busy', async (signal) => {
    await Promise.all(Array.from({ length: 50 }, () => untilAborted(signal)));
  });
  await clock.advance(1);
  process.off('warning', collect);
  expect(warnings).toEqual([]);
  expect(await supervisor.close()).toEqual([]);
});

describe('work that throws', () => {
  test('runs again after a growing, jittered pause, and is counted and reported', async () => {
    const { clock, crashes, supervisor } = setUp();
    const startedMs: number[] = [];
    supervisor.start('flaky', async () => {
      startedMs.push(clock.monotonicMs());
      throw new Error(`crash ${startedMs.length}`);
    });
    await clock.advance(3_000);
    const pausesMs = startedMs.slice(1).map((ms, index) => ms - startedMs[index]!);
    pausesMs.forEach((ms, attempt) => {
      const ceilingMs = Math.min(1_000, 100 * 2 ** attempt);
      expect(ms).toBeGreaterThanOrEqual(ceilingMs / 2);
      expect(ms).toBeLessThanOrEqual(ceilingMs);
    });
    expect(crashes.map((crash) => Math.ceil(crash.restartInMs ?? 0)).slice(0, pausesMs.length)).toEqual(
      pausesMs,
    );
    const { tasks, ...totals } = supervisor.status();
    expect(totals).toEqual({ crashes: startedMs.length, restarts: startedMs.length - 1 });
    expect(tasks).toEqual([
      {
        name: 'flaky',
        state: 'backing-off',
        ...totals,
        lastError: new Error(`crash ${startedMs.length}`),
      },
    ]);
    expect(await supervisor.close()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('counts as crashed also when it throws before its first await, or throws no error', async () => {
    const { clock, crashes, supervisor } = setUp();
    let runs = 0;
    supervisor.start('abrupt', () => {
      runs += 1;
      if (runs === 1) throw 'a string';
      return Promise.resolve();
    });
    await clock.advance(1_000);
    expect(runs).toBe(2);
    expect(crashes.map(({ name, error }) => ({ name, error }))).toEqual([
      { name: 'abrupt', error: 'a string' },
    ]);
  });

  test('starts its pauses from the beginning when it ran long enough in between', async () => {
    const { clock, crashes, supervisor } = setUp();
    let runs = 0;
    supervisor.start('mostly-healthy', async (signal) => {
      runs += 1;
      if (runs > 5) await clock.sleep(60_000, signal);
      throw new Error('crash');
    });
    await clock.advance(62_000);
    expect(crashes.map((crash) => crash.restartInMs! > 100)).toEqual([false, true, true, true, true, false]);
    await supervisor.close();
  });

  test('does not run again once it is being stopped', async () => {
    const { clock, crashes, supervisor } = setUp();
    let runs = 0;
    const work = supervisor.start('sore-loser', async (signal) => {
      runs += 1;
      await untilAborted(signal);
      throw new Error('no time for that');
    });
    await clock.advance(1);
    expect(await work.stop()).toBe(true);
    await clock.advance(10_000);
    expect(runs).toBe(1);
    expect(crashes).toEqual([expect.objectContaining({ name: 'sore-loser', restartInMs: undefined })]);
  });

  test.each([
    {
      name: 'the reason of the abort',
      run: (signal: AbortSignal) => untilAborted(signal).then(() => signal.throwIfAborted()),
    },
    { name: "a call of Node's", run: (signal: AbortSignal) => setTimeout(60_000, undefined, { signal }) },
  ])('because it was aborted, as does $name, has not crashed', async ({ run }) => {
    const { clock, crashes, supervisor } = setUp();
    supervisor.start('fetcher', run);
    await clock.advance(1);
    expect(await supervisor.close()).toEqual([]);
    expect(crashes).toEqual([]);
  });

  test('with an AbortError of its own, while it is not being stopped, has crashed', async () => {
    const { clock, crashes, supervisor } = setUp();
    supervisor.start('timeout', () => Promise.reject(new DOMException('took too long', 'AbortError')));
    await clock.advance(0);
    expect(crashes).toHaveLength(1);
    await supervisor.close();
  });

  test('survives a log that throws as well', async () => {
    const { clock, supervisor } = setUp({
      onCrash: () => {
        throw new Error('disk full');
      },
    });
    let runs = 0;
    supervisor.start('unlucky', async () => {
      runs += 1;
      throw new Error('crash');
    });
    await clock.advance(200);
    expect(runs).toBeGreaterThan(1);
    expect(supervisor.status().tasks[0]?.lastError).toMatchObject({ cause: new Error('disk full') });
    await supervisor.close();
  });
});

describe('stopping', () => {
  test('work that waits between restarts ends it at once', async () => {
    const { clock, supervisor } = setUp();
    const work = supervisor.start('flaky', () => Promise.reject(new Error('crash')));
    await clock.advance(0);
    expect(supervisor.status().tasks[0]?.state).toBe('backing-off');
    expect(await work.stop()).toBe(true);
    expect(supervisor.status()).toEqual({ tasks: [], crashes: 1, restarts: 0 });
    expect(clock.pending).toBe(0);
  });

  test('work before its first run means that it never runs', async () => {
    const { supervisor } = setUp();
    const work = supervisor.start('unborn', () => expect.unreachable('it was stopped before'));
    expect(await work.stop()).toBe(true);
  });

  test('one piece of work leaves the others alone', async () => {
    const { clock, supervisor } = setUp();
    supervisor.start('a', untilAborted);
    const b = supervisor.start('b', untilAborted);
    await clock.advance(1);
    await b.stop();
    expect(supervisor.status().tasks.map(({ name, state }) => [name, state])).toEqual([['a', 'running']]);
    await supervisor.close();
  });

  test('disposing of work that ignores its signal throws at the deadline', async () => {
    const { clock, supervisor } = setUp();
    const work = supervisor.start('stubborn', stubborn);
    await clock.advance(1);
    const stopped = work.stop();
    const disposed = expect(work[Symbol.asyncDispose]()).rejects.toThrow('stubborn');
    await clock.advance(5_000);
    expect(await stopped).toBe(false);
    await disposed;
    expect(supervisor.status().tasks[0]?.state).toBe('stopping');
  });
});

describe('closing', () => {
  test('ends all work, also work that takes its time, and leaves no timer', async () => {
    const { clock, supervisor } = setUp();
    supervisor.start('quick', untilAborted);
    supervisor.start('slow', async (signal) => {
      await untilAborted(signal);
      await clock.sleep(2_000, new AbortController().signal);
    });
    await clock.advance(1);
    const closed = supervisor.close();
    expect(supervisor.close()).toBe(closed);
    await clock.advance(2_000);
    expect(await closed).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('names the tasks that have not ended by the deadline; disposing throws then', async () => {
    const { clock, supervisor } = setUp();
    supervisor.start('quick', untilAborted);
    supervisor.start('deaf', stubborn);
    supervisor.start('dumb', stubborn);
    await clock.advance(1);
    const closed = supervisor.close();
    await clock.advance(4_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await closed).toEqual(['deaf', 'dumb']);
    await expect(supervisor[Symbol.asyncDispose]()).rejects.toThrow('deaf, dumb');
  });

  test('makes a later start a no-op, without an error', async () => {
    const { supervisor } = setUp();
    await supervisor.close();
    const late = supervisor.start('late', () => expect.unreachable('the supervisor is closed'));
    await late.ended;
    expect(supervisor.status().tasks).toEqual([]);
  });

  test('stops listening to the signal it was given', async () => {
    const owner = new AbortController();
    const { supervisor } = setUp({ signal: owner.signal });
    expect(getEventListeners(owner.signal, 'abort')).toHaveLength(1);
    await supervisor.close();
    expect(getEventListeners(owner.signal, 'abort')).toEqual([]);
  });

  test('follows the signal it was given; close still reports the result', async () => {
    const owner = new AbortController();
    const { clock, supervisor } = setUp({ signal: owner.signal });
    const work = supervisor.start('watch', untilAborted);
    await clock.advance(1);
    owner.abort();
    await work.ended;
    expect(await supervisor.close()).toEqual([]);

    const { supervisor: stillborn } = setUp({ signal: owner.signal });
    await stillborn.start('late', () => expect.unreachable('aborted before')).ended;
  });
});
