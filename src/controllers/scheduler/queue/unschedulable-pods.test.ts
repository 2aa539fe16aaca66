import { describe, expect, test } from 'vitest';
import type { WakeCondition } from './queued-pod.ts';
import { changeOf, podOf, QueueRun } from './testing/queue-run.ts';

/** Woken by `a`, and counts how often it was asked. */
function countingWaiting(): WakeCondition & { asked: number } {
  const waiting = {
    asked: 0,
    wokenBy: (change: Parameters<WakeCondition['wokenBy']>[0]) => {
      waiting.asked += 1;
      return change.kind === 'Release' && change.nodeName === 'a';
    },
  };
  return waiting;
}

describe('pods that wait for the same', () => {
  test('are asked about once, and woken together', async () => {
    const run = new QueueRun();
    const shared = countingWaiting();
    for (let count = 0; count < 100; count += 1) {
      run.queue.addOrUpdate(podOf(`web-${count}`));
      await run.refuse(shared);
    }
    run.queue.observe(changeOf('b'));
    expect([shared.asked, run.states()]).toEqual([1, '100 unschedulable']);
    run.queue.observe(changeOf('a'));
    expect([shared.asked, run.states()]).toEqual([2, '100 backoff']);
    run.queue.observe(changeOf('a'));
    expect(shared.asked).toBe(2);
  });

  test('leave one by one', async () => {
    const run = new QueueRun();
    const shared = countingWaiting();
    for (const name of ['one', 'two', 'three']) {
      run.queue.addOrUpdate(podOf(name));
      await run.refuse(shared);
    }
    run.queue.remove('default/one');
    run.queue.addOrUpdate(podOf('two'));
    run.queue.observe(changeOf('a'));
    expect(run.states()).toBe('2 backoff');
    expect((await run.takeAll()).map(({ cause }) => cause)).toEqual(['update', 'event']);
  });
});

describe('nobody is asked about a pod', () => {
  test.each<[string, (run: QueueRun) => unknown]>([
    ['that is gone', ({ queue }) => queue.remove('default/web')],
    ['that is on its way already', ({ queue }) => queue.addOrUpdate(podOf('web'))],
    [
      'that was swept up and is gone',
      async ({ clock, queue }) => {
        await clock.advance(330_000);
        expect(queue.counts.active).toBe(1);
        queue.remove('default/web');
      },
    ],
    [
      'that was swept up and taken',
      async (run) => {
        await run.clock.advance(330_000);
        expect(await run.take()).toMatchObject({ cause: 'sweep' });
      },
    ],
  ])('%s', async (_, act) => {
    const run = new QueueRun();
    const waiting = countingWaiting();
    run.queue.addOrUpdate(podOf('web'));
    await run.refuse(waiting);
    await act(run);
    run.queue.observe(changeOf('a'));
    expect(waiting.asked).toBe(0);
  });
});
