import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { AnswerCache } from './answer-cache.ts';

test('an answer is made again after a change, but not for more than a tenth of the time', async () => {
  const clock = new VirtualClock();
  const cache = new AnswerCache(clock);
  let made = 0;
  const ask = async (position: string) =>
    Number(
      await cache.get('queue', position, async () => {
        made += 1;
        await clock.advance(100);
        return made;
      }),
    );
  expect(await ask('1')).toBe(1);
  expect(await ask('1')).toBe(1);
  expect(await ask('2')).toBe(1);
  await clock.advance(1_000);
  expect(await ask('2')).toBe(2);
});

test('a failed answer is not kept', async () => {
  const cache = new AnswerCache(new VirtualClock());
  await expect(cache.get('queue', '1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(cache.bytes).toBe(0);
  expect(String(await cache.get('queue', '1', () => Promise.resolve('yes')))).toBe('"yes"');
});

test('answers are dropped by their bytes, the oldest first', async () => {
  const cache = new AnswerCache(new VirtualClock(), 1_000);
  let made = 0;
  const ask = async (viewer: number) =>
    await cache.get(`queue ${viewer}`, '1', async () => {
      made += 1;
      return 'x'.repeat(298);
    });
  for (const viewer of [1, 2, 3, 4]) await ask(viewer);
  expect(cache.bytes).toBe(900);
  await ask(4);
  await ask(2);
  expect(made).toBe(4);
  await ask(1);
  expect(made).toBe(5);
  expect(cache.bytes).toBe(900);
});

test('the newest answer is kept, also if it is larger than the limit', async () => {
  const cache = new AnswerCache(new VirtualClock(), 10);
  let made = 0;
  const ask = async () =>
    await cache.get('queue', '1', async () => {
      made += 1;
      return 'larger than ten bytes';
    });
  await ask();
  await ask();
  expect(made).toBe(1);
});
