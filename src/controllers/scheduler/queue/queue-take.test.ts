import { describe, expect, test } from 'vitest';
import { changeOf, podOf, QueueRun, waitingFor } from './testing/queue-run.ts';

const pod = podOf('web');
const never = new AbortController().signal;

async function names(run: QueueRun): Promise<string> {
  return (await run.takeAll()).map((taken) => taken.pod.key.slice('default/'.length)).join(' ');
}

describe('the order', () => {
  test('is by priority, then by age', async () => {
    const run = new QueueRun();
    for (const [name, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', -1],
      ['d', 5],
      ['e', 0],
    ] as const)
      run.queue.addOrUpdate(podOf(name, { priority }));
    expect(await names(run)).toBe('b d a e c');
  });

  test('puts a refused pod behind those that were added before the refusal', async () => {
    const run = new QueueRun();
    for (const name of ['a', 'b']) run.queue.addOrUpdate(podOf(name));
    await run.refuse(waitingFor('x'));
    await run.clock.advance(5000);
    run.queue.addOrUpdate(podOf('c'));
    run.queue.observe(changeOf('x'));
    expect(await names(run)).toBe('b a c');
  });

  test('counts from when the gates of a pod were removed', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(podOf('a', { isGated: true }));
    run.queue.addOrUpdate(podOf('b'));
    run.queue.addOrUpdate(podOf('a'));
    expect(await names(run)).toBe('a b');
  });

  test('follows a priority that changes', async () => {
    const run = new QueueRun();
    for (const name of ['a', 'b', 'c']) run.queue.addOrUpdate(podOf(name));
    run.queue.addOrUpdate(podOf('c', { priority: 1 }));
    expect(await names(run)).toBe('c a b');
  });

  test('has the pods in front that were moved there, within their priority', async () => {
    const run = new QueueRun();
    for (const [name, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', 0],
      ['e', 5],
      ['f', 0],
    ] as const)
      run.queue.addOrUpdate(podOf(name, { priority }));
    run.queue.moveToFront(['default/f', 'default/gone', 'default/e', 'default/c']);
    run.queue.addOrUpdate(podOf('g'));
    expect(await names(run)).toBe('e b c f a d g');
  });

  test('among pods that one change wakes is by priority, not by how long they wait', async () => {
    const run = new QueueRun();
    for (const [name, priority] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const) {
      run.queue.addOrUpdate(podOf(name, { priority }));
      await run.refuse(waitingFor('x'));
    }
    const waiting = run.queue.take(never);
    run.queue.observe(changeOf('x'));
    expect((await waiting)?.pod.key).toBe('default/c');
    expect(await names(run)).toBe('b a');
  });
});

describe('take', () => {
  test('waits for a pod; several calls are served in order', async () => {
    const run = new QueueRun();
    const waiting = [run.queue.take(never), run.queue.take(never)];
    for (const name of ['a', 'b']) run.queue.addOrUpdate(podOf(name));
    expect((await Promise.all(waiting)).map((taken) => taken?.pod.key)).toEqual(['default/a', 'default/b']);
  });

  test('ends when its signal aborts, and leaves the pod to the next call', async () => {
    const run = new QueueRun();
    const stop = new AbortController();
    const [impatient, patient] = [run.queue.take(stop.signal), run.queue.take(never)];
    stop.abort();
    run.queue.addOrUpdate(pod);
    expect(await impatient).toBeUndefined();
    expect((await patient)?.pod).toBe(pod);
    expect(await run.queue.take(stop.signal)).toBeUndefined();
  });

  test('ends when the queue is closed, also if it is called later', async () => {
    const run = new QueueRun();
    const waiting = run.queue.take(never);
    run.queue.close();
    expect(await waiting).toBeUndefined();
    run.queue.addOrUpdate(pod);
    expect(await run.queue.take(never)).toBeUndefined();
  });

  test('returns the current pod, the number of the attempt, and since when the pod is queued', async () => {
    const run = new QueueRun();
    await run.clock.advance(500);
    run.queue.addOrUpdate(podOf('web', { isGated: true }));
    await run.clock.advance(500);
    run.queue.addOrUpdate(pod);
    await run.clock.advance(500);
    const changed = podOf('web', { priority: 3 });
    run.queue.addOrUpdate(changed);
    expect(await run.take()).toEqual({ pod: changed, number: 1, cause: 'update', queuedMs: 1000 });
  });

  test('keeps the number and the time across refusals, errors and bindings', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse();
    run.queue.addOrUpdate(pod);
    await run.fail();
    await run.clock.advance(60_000);
    run.queue.requeue(await run.decide(), 'refusal');
    expect(await run.take()).toMatchObject({ number: 4, cause: 'backoff', queuedMs: 0 });
  });

  test('keeps the time of a pod that is woken long after its back-off', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse(waitingFor('a'));
    await run.clock.advance(60_000);
    run.queue.observe(changeOf('a'));
    expect(await run.take()).toMatchObject({ number: 2, cause: 'event', queuedMs: 0 });
  });
});

describe('timers', () => {
  test('run only while a call waits for a pod that will be due, and one at a time', async () => {
    const run = new QueueRun();
    const stop = new AbortController();
    const waiting = run.queue.take(stop.signal);
    expect(run.clock.pending).toBe(0);
    for (const name of ['a', 'b']) run.queue.addOrUpdate(podOf(name));
    const a = await waiting;
    run.queue.failed(a!);
    await run.refuse();
    expect(run.clock.pending).toBe(0);
    const last = run.queue.take(stop.signal);
    expect(run.clock.pending).toBe(1);
    stop.abort();
    expect(await last).toBeUndefined();
    expect(run.clock.pending).toBe(0);
  });

  test.each<[string, (run: QueueRun) => void]>([
    ['the queue is closed', ({ queue }) => queue.close()],
    ['its pod is removed', ({ queue }) => queue.remove(pod.key)],
    ['its pod is taken', ({ queue }) => queue.observe(changeOf('a'))],
  ])('end when %s', async (_, act) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.refuse(waitingFor('a'));
    const waiting = run.queue.take(never);
    expect(run.clock.pending).toBe(1);
    act(run);
    expect(run.clock.pending).toBe(0);
    run.queue.close();
    await waiting;
  });

  test('follow the pod that is due first', async () => {
    const run = new QueueRun();
    for (const name of ['a', 'b']) run.queue.addOrUpdate(podOf(name));
    await run.refuse();
    const b = await run.take();
    const waiting = run.queue.take(never);
    run.queue.failed(b);
    expect(run.clock.pending).toBe(1);
    await run.clock.advance(2000);
    expect((await waiting)?.pod.key).toBe('default/b');
  });
});
