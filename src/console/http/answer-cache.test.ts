import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { AnswerCache } from './answer-cache.ts';

test('an answer is made again after a change, but not for more than a tenth of the time', async () => {
  const clock = new VirtualClock();
  const cache = new AnswerCache(clock);
  let made = 0;
  const ask = async (position: string) =>
    await cache.get('queue', position, async () => {
      made += 1;
      await clock.advance(100);
      return made;
    });
  expect(await ask('1')).toBe(1);
  expect(await ask('1')).toBe(1);
  expect(await ask('2')).toBe(1);
  await clock.advance(1_000);
  expect(await ask('2')).toBe(2);
});

test('a failed answer is not kept', async () => {
  const cache = new AnswerCache(new VirtualClock());
  await expect(cache.get('queue', '1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await cache.get('queue', '1', () => Promise.resolve('yes'))).toBe('yes');
});
