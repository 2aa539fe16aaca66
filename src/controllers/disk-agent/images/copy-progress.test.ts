import { expect, test } from 'vitest';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { CopyProgress } from './copy-progress.ts';

test('progress is written at most every two seconds, and only if it changed', async () => {
  const clock = new VirtualClock();
  const written: number[] = [];
  const progress = new CopyProgress({
    clock,
    expectedBytes: 1_000,
    write: async (percent) => void written.push(percent),
    onError: () => {},
  });
  for (let done = 0; done <= 1_000; done += 10) {
    progress.report(done, undefined);
    await clock.advance(100);
  }
  expect(written).toEqual([0, 20, 40, 60, 80, 99]);
  await clock.advance(10_000);
  progress.report(1_000, undefined);
  await progress.settled();
  expect(written).toHaveLength(6);
});

test('a write that fails is reported, and the next one takes place', async () => {
  const clock = new VirtualClock();
  const errors: unknown[] = [];
  let attempts = 0;
  const progress = new CopyProgress({
    clock,
    expectedBytes: undefined,
    write: async () => {
      attempts += 1;
      throw new Error('refused');
    },
    onError: (error) => errors.push(error),
  });
  progress.report(1, 10);
  await clock.advance(5_000);
  progress.report(5, 10);
  await progress.settled();
  expect([attempts, errors.length]).toEqual([2, 2]);
});
