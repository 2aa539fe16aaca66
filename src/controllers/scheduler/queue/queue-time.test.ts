import { describe, expect, test } from 'vitest';
import { changeOf, podOf, QueueRun, waitingFor } from './testing/queue-run.ts';

const pod = podOf('web');
const never = new AbortController().signal;

/** Advances second by second until the pod is active, without taking a pod meanwhile. */
async function secondsUntilActive(run: QueueRun): Promise<number> {
  for (let seconds = 0; ; seconds += 1) {
    if (run.queue.counts.active > 0) return seconds;
    await run.clock.advance(1000);
  }
}

describe('the back-off', () => {
  test('doubles with each refusal, up to ten seconds, and ends at a whole second', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const seconds: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await run.refuse(waitingFor('a'));
      run.queue.observe(changeOf('a'));
      seconds.push(await secondsUntilActive(run));
    }
    expect(seconds).toEqual([2, 3, 5, 9, 11, 11]);
  });

  test.each([
    [0, 2000],
    [1, 2000],
    [999, 2000],
    [1000, 3000],
  ])('of a second, from %i ms on, ends at %i ms', async (refusedMs, endMs) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.clock.advance(refusedMs);
    await run.fail();
    await run.clock.advance(endMs - refusedMs - 1);
    expect(run.states()).toBe('backoff');
    await run.clock.advance(1);
    expect(run.states()).toBe('active');
  });

  test('counts errors in a row apart from refusals', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const seconds: number[] = [];
    for (const end of ['fail', 'fail', 'refuse', 'refuse', 'fail'] as const) {
      await run[end](waitingFor('a'));
      run.queue.observe(changeOf('a'));
      seconds.push(await secondsUntilActive(run));
    }
    expect(seconds).toEqual([2, 3, 2, 3, 2]);
  });

  test('counts a failed binding as a refusal or as an error', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const seconds: number[] = [];
    for (const why of ['refusal', 'refusal', 'error', 'error', 'refusal'] as const) {
      run.queue.requeue(await run.decide(), why);
      seconds.push(await secondsUntilActive(run));
    }
    expect(seconds).toEqual([2, 3, 2, 3, 5]);
  });

  test('can be configured', async () => {
    const run = new QueueRun({ backOff: { initialMs: 3000, maxMs: 4000 } });
    run.queue.addOrUpdate(pod);
    await run.fail();
    expect(await secondsUntilActive(run)).toBe(4);
    await run.fail();
    expect(await secondsUntilActive(run)).toBe(5);
  });

  test('can be disabled', async () => {
    const run = new QueueRun({ backOff: { initialMs: 1000, maxMs: 0 } });
    run.queue.addOrUpdate(pod);
    await run.fail();
    expect(run.states()).toBe('active');
    await run.refuse(waitingFor('a'));
    run.queue.observe(changeOf('a'));
    expect(run.states()).toBe('active');
  });
});

describe('an idle scheduler', () => {
  test('takes a pod that backs off after a refusal: by second, then by priority, then by age', async () => {
    const run = new QueueRun();
    const pods = [podOf('old'), podOf('young'), podOf('important', { priority: 10 })];
    run.queue.addOrUpdate(podOf('late', { priority: 100 }));
    await run.refuse(waitingFor('a'));
    run.queue.observe(changeOf('a'));
    await run.refuse(waitingFor('a'));
    for (const each of pods) run.queue.addOrUpdate(each);
    const taken = await run.takeAll();
    const order = ['old', 'young', 'important'];
    for (const name of order)
      run.queue.refused(taken.find((one) => one.pod.key === `default/${name}`)!, waitingFor('a'));
    run.queue.observe(changeOf('a'));
    expect(run.states()).toBe('4 backoff');
    const names = (await run.takeAll()).map((one) => one.pod.key);
    expect(names).toEqual(['default/important', 'default/old', 'default/young', 'default/late']);
  });

  test('takes active pods before those that back off', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(podOf('important', { priority: 10 }));
    await run.refuse(waitingFor('a'));
    run.queue.observe(changeOf('a'));
    run.queue.addOrUpdate(pod);
    expect((await run.takeAll()).map((one) => one.pod.key)).toEqual(['default/web', 'default/important']);
  });

  test('takes a pod that begins to back off', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse(waitingFor('a'));
    const waiting = run.queue.take(never);
    run.queue.observe(changeOf('a'));
    expect(await waiting).toMatchObject({ cause: 'event', number: 2 });
  });

  test('waits for a pod that backs off after an error', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.fail();
    const waiting = run.queue.take(never);
    await run.clock.advance(1999);
    expect(run.states()).toBe('backoff');
    await run.clock.advance(1);
    expect(await waiting).toMatchObject({ cause: 'backoff', number: 2 });
  });

  test('takes a pod early that was refused after errors', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.fail();
    await run.clock.advance(2000);
    await run.refuse(waitingFor('a'));
    run.queue.observe(changeOf('a'));
    expect(run.states()).toBe('backoff');
    expect((await run.take()).cause).toBe('event');
  });
});

describe('an unschedulable pod', () => {
  test('is swept within thirty seconds after five minutes', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.clock.advance(10_000);
    await run.refuse();
    const waiting = run.queue.take(never);
    await run.clock.advance(319_999);
    expect(run.states()).toBe('unschedulable');
    await run.clock.advance(1);
    expect(await waiting).toMatchObject({ cause: 'sweep', number: 2 });
  });

  test('is not swept after exactly five minutes', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse();
    await run.clock.advance(300_000);
    expect(run.states()).toBe('unschedulable');
    await run.clock.advance(30_000);
    expect(run.states()).toBe('active');
  });

  test('is swept repeatedly, each time after the same interval', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse();
    for (let attempt = 2; attempt < 5; attempt += 1) {
      await run.clock.advance(330_000);
      const taken = await run.take();
      expect(taken).toMatchObject({ cause: 'sweep', number: attempt });
      run.queue.refused(taken, waitingFor());
      expect(await run.takeNow()).toBeUndefined();
    }
  });

  test.each<[string, string, (run: QueueRun) => void]>([
    ['a change that wakes it', 'event', ({ queue }) => queue.observe(changeOf('a'))],
    ['an update that may help', 'update', ({ queue }) => queue.addOrUpdate(pod)],
    ['a change that does not concern it', 'sweep', ({ queue }) => queue.observe(changeOf('b'))],
    ['an update that cannot help', 'sweep', ({ queue }) => queue.addOrUpdate(pod, { mayHelp: false })],
  ])('that is swept and then sees %s before it is taken has cause %s', async (_, cause, happens) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse(waitingFor('a'));
    await run.clock.advance(330_000);
    expect(run.states()).toBe('active');
    happens(run);
    expect((await run.take()).cause).toBe(cause);
  });

  test('is scheduled again at its retry time', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse({ wokenBy: () => false, retryAtMs: run.clock.nowMs() + 42_000 });
    const waiting = run.queue.take(never);
    await run.clock.advance(41_999);
    expect(run.states()).toBe('unschedulable');
    await run.clock.advance(1);
    expect(await waiting).toMatchObject({ cause: 'retry', number: 2 });
  });

  test('is scheduled after its back-off if its retry time is past', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse({ wokenBy: () => false, retryAtMs: 0 });
    expect(await run.takeNow()).toBeUndefined();
    await run.clock.advance(2000);
    expect((await run.take()).cause).toBe('retry');
  });

  test('is woken by a change before its retry time', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse({ ...waitingFor('a'), retryAtMs: run.clock.nowMs() + 42_000 });
    run.queue.observe(changeOf('a'));
    expect((await run.take()).cause).toBe('event');
    await run.clock.advance(600_000);
    expect(run.states()).toBe('inFlight');
  });
});
