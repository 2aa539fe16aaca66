import { expect, test } from 'vitest';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { FlushScheduler } from './flush-scheduler.ts';

const mebibyte = 1024 * 1024;

/** Connections that have so many MiB left, each at most one a flush, and what was flushed in each tick. */
async function flushed(connections: readonly number[]): Promise<readonly (readonly string[])[]> {
  const clock = new VirtualClock();
  const scheduler = new FlushScheduler(clock);
  const ticks: string[][] = [];
  let tick: string[] = [];
  const left = [...connections];
  connections.forEach((_, at) => {
    const flush = () => {
      tick.push(String(at));
      left[at] = left[at]! - 1;
      if (left[at] > 0) scheduler.schedule(flush);
      return mebibyte;
    };
    scheduler.schedule(flush);
  });
  const look = () => {
    if (tick.length > 0) ticks.push(tick);
    tick = [];
    if (left.some((rest) => rest > 0)) clock.after(0, look);
  };
  clock.after(0, look);
  await clock.advance(1);
  look();
  return ticks;
}

test('a tick ends after so many bytes, and every connection gets its turn', async () => {
  expect(await flushed([2, 2, 2, 2, 2, 1])).toEqual([
    ['0', '1', '2', '3'],
    ['4', '5', '0', '1'],
    ['2', '3', '4'],
  ]);
});

test('small writes of many connections are one tick', async () => {
  const clock = new VirtualClock();
  const scheduler = new FlushScheduler(clock);
  let flushes = 0;
  for (let at = 0; at < 1_000; at += 1)
    scheduler.schedule(() => {
      flushes += 1;
      return 1_000;
    });
  let seen = -1;
  clock.after(0, () => (seen = flushes));
  await clock.advance(1);
  expect(seen).toBe(1_000);
});
