import { describe, expect, test } from 'vitest';
import type { WakeCondition } from './queued-pod.ts';
import { changeOf, podOf, QueueRun } from './testing/queue-run.ts';

/** Woken by `a`; counts the calls of `wokenBy`. */
function countingCondition(): WakeCondition & { calls: number } {
  const waiting = {
    calls: 0,
    wokenBy: (change: Parameters<WakeCondition['wokenBy']>[0]) => {
      waiting.calls += 1;
      return change.kind === 'Release' && change.nodeName === 'a';
    },
  };
  return waiting;
}

describe('pods with the same wake condition', () => {
  test('are checked once, and woken together', async () => {
    const run = new QueueRun();
    const shared = countingCondition();
    for (let count = 0; count < 100; count += 1) {
      run.queue.addOrUpdate(podOf(`web-${count}`));
      await run.refuse(shared);
    }
    run.queue.observe(changeOf('b'));
    expect([shared.calls, run.states()]).toEqual([1, '100 unschedulable']);
    run.queue.observe(changeOf('a'));
    expect([shared.calls, run.states()]).toEqual([2, '100 backoff']);
    run.queue.observe(changeOf('a'));
    expect(shared.calls).toBe(2);
  });

  test('can be removed one by one', async () => {
    const run = new QueueRun();
    const shared = countingCondition();
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

describe('the wake condition is not checked for a pod', () => {
  test.each<[string, (run: QueueRun) => unknown]>([
    ['that is gone', ({ queue }) => queue.remove('default/web')],
    ['that is already queued', ({ queue }) => queue.addOrUpdate(podOf('web'))],
    [
      'that was swept and is gone',
      async ({ clock, queue }) => {
        await clock.advance(330_000);
        expect(queue.counts.active).toBe(1);
        queue.remove('default/web');
      },
    ],
    [
      'that was swept and taken',
      async (run) => {
        await run.clock.advance(330_000);
        expect(await run.take()).toMatchObject({ cause: 'sweep' });
      },
    ],
  ])('%s', async (_, act) => {
    const run = new QueueRun();
    const waiting = countingCondition();
    run.queue.addOrUpdate(podOf('web'));
    await run.refuse(waiting);
    await act(run);
    run.queue.observe(changeOf('a'));
    expect(waiting.calls).toBe(0);
  });
});
