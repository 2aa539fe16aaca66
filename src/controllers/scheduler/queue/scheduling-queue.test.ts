import { describe, expect, test } from 'vitest';
import type { SchedulingAttempt } from './queued-pod.ts';
import { changeOf, podOf, QueueRun, waitingFor } from './testing/queue-run.ts';

const pod = podOf('web');
const gated = podOf('web', { isGated: true });

/** The operations on the one pod of a test. It waits for change `a`, and `taken` is its last attempt. */
const steps = {
  put: ({ queue }) => queue.addOrUpdate(pod),
  'put in vain': ({ queue }) => queue.addOrUpdate(pod, { mayHelp: false }),
  'put gated': ({ queue }) => queue.addOrUpdate(gated, { mayHelp: false }),
  refuse: ({ queue }, taken) => queue.refused(taken(), waitingFor('a')),
  fail: ({ queue }, taken) => queue.failed(taken()),
  done: ({ queue }, taken) => queue.done(taken()),
  'requeue refused': ({ queue }, taken) => queue.requeue(taken(), 'refusal'),
  'requeue failed': ({ queue }, taken) => queue.requeue(taken(), 'error'),
  'change a': ({ queue }) => queue.observe(changeOf('a')),
  'change b': ({ queue }) => queue.observe(changeOf('b')),
  'two seconds': ({ clock }) => clock.advance(2000),
} satisfies Record<string, (run: QueueRun, taken: () => SchedulingAttempt) => unknown>;

type Step = keyof typeof steps | 'take';

async function runSteps(sequence: readonly Step[]): Promise<string> {
  const run = new QueueRun();
  let taken: SchedulingAttempt | undefined;
  for (const step of sequence)
    if (step === 'take') taken = await run.take();
    else await steps[step](run, () => taken as SchedulingAttempt);
  return run.states();
}

describe('a pod', () => {
  test.each<[string, readonly Step[], string]>([
    ['that is new is active', ['put'], 'active'],
    ['that is added twice is queued once', ['put', 'put'], 'active'],
    ['that is taken is in flight', ['put', 'take'], 'inFlight'],
    ['that is refused waits', ['put', 'take', 'refuse'], 'unschedulable'],
    ['that failed backs off', ['put', 'take', 'fail'], 'backoff'],
    ['that is decided is still known', ['put', 'take', 'done'], 'decided'],
    ['with gates is gated', ['put gated'], 'gated'],
    ['is active when its gates are removed', ['put gated', 'put'], 'active'],
    [
      'is active when its gates are removed, even if the update may not help',
      ['put gated', 'put in vain'],
      'active',
    ],
    ['stays gated whatever else changes', ['put gated', 'change a', 'put gated'], 'gated'],
    ['is gated while it is active', ['put', 'put gated'], 'gated'],
    ['is gated while it is unschedulable', ['put', 'take', 'refuse', 'put gated'], 'gated'],
    ['is gated when it is refused', ['put', 'take', 'put gated', 'refuse'], 'gated'],
    ['is gated when it failed', ['put', 'take', 'put gated', 'fail'], 'gated'],
    ['that a change wakes backs off', ['put', 'take', 'refuse', 'change a'], 'backoff'],
    [
      'that a change wakes after its back-off is active',
      ['put', 'take', 'refuse', 'two seconds', 'change a'],
      'active',
    ],
    [
      'that a change wakes is active once its back-off has ended',
      ['put', 'take', 'refuse', 'change a', 'two seconds'],
      'active',
    ],
    ['keeps waiting if a change does not concern it', ['put', 'take', 'refuse', 'change b'], 'unschedulable'],
    ['keeps waiting without a change', ['put', 'take', 'refuse', 'two seconds'], 'unschedulable'],
    ['that waits backs off if an update may help', ['put', 'take', 'refuse', 'put'], 'backoff'],
    ['remembers an update that may help', ['put', 'take', 'put', 'put in vain', 'refuse'], 'backoff'],
    ['keeps waiting if an update cannot help', ['put', 'take', 'refuse', 'put in vain'], 'unschedulable'],
    ['that failed is not moved by an update', ['put', 'take', 'fail', 'put'], 'backoff'],
    ['that failed is not moved by a change', ['put', 'take', 'fail', 'change a'], 'backoff'],
    ['that failed is active once its back-off has ended', ['put', 'take', 'fail', 'two seconds'], 'active'],
    ['that is decided is not queued by updates', ['put', 'take', 'done', 'put'], 'decided'],
    ['whose binding was refused backs off', ['put', 'take', 'done', 'requeue refused'], 'backoff'],
    ['whose binding failed backs off', ['put', 'take', 'done', 'requeue failed'], 'backoff'],
    ['that is refused after it was decided backs off', ['put', 'take', 'done', 'refuse'], 'backoff'],
    ['that fails after it was decided is not lost', ['put', 'take', 'done', 'fail'], 'backoff'],
    ['can be decided twice', ['put', 'take', 'done', 'done'], 'decided'],
    [
      'whose attempt was reported is not moved by the same attempt',
      ['put', 'take', 'refuse', 'fail', 'done', 'requeue failed'],
      'unschedulable',
    ],
    [
      'that backs off is not moved by its failed attempt',
      ['put', 'take', 'fail', 'done', 'refuse', 'requeue refused', 'two seconds'],
      'active',
    ],
  ])('%s', async (_, steps, state) => {
    expect(await runSteps(steps)).toBe(state);
  });

  test.each<[string, (run: QueueRun) => unknown]>([
    ['active', () => undefined],
    ['gated', ({ queue }) => queue.addOrUpdate(gated)],
    ['inFlight', (run) => run.take()],
    ['decided', (run) => run.decide()],
    ['unschedulable', (run) => run.refuse()],
    ['backoff', (run) => run.fail()],
    [
      'backoff',
      async (run) => {
        await run.refuse(waitingFor('a'));
        run.queue.observe(changeOf('a'));
      },
    ],
  ])('that is removed while it is %s is gone, and is new when it is added again', async (place, act) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await act(run);
    expect(run.states()).toBe(place);
    run.queue.remove(pod.key);
    expect(run.states()).toBe('');
    run.queue.observe(changeOf('a'));
    await run.clock.advance(600_000);
    expect(await run.takeNow()).toBeUndefined();
    run.queue.addOrUpdate(pod);
    expect(await run.take()).toMatchObject({ number: 1, cause: 'new' });
  });

  test('that is not in the queue can be removed', () => {
    const run = new QueueRun();
    run.queue.remove('default/unknown');
    expect(run.states()).toBe('');
  });
});

describe('a pod that is recreated under its name', () => {
  const next = podOf('web', { uid: 'another' });

  test.each<[string, (run: QueueRun) => unknown]>([
    ['active', () => undefined],
    ['gated', ({ queue }) => queue.addOrUpdate(gated)],
    ['in flight', (run) => run.take()],
    ['decided', (run) => run.decide()],
    ['waiting', (run) => run.refuse()],
    ['backing off', (run) => run.fail()],
  ])('replaces a pod that is %s, as a new pod', async (_, act) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await act(run);
    run.queue.addOrUpdate(next);
    expect(run.states()).toBe('active');
    expect(await run.take()).toMatchObject({ pod: { uid: 'another' }, number: 1, cause: 'new' });
    expect(await run.takeNow()).toBeUndefined();
  });

  test.each(['refused', 'failed', 'done', 'requeue'] as const)(
    'is not affected when the old one is reported as %s',
    async (end) => {
      const run = new QueueRun();
      run.queue.addOrUpdate(pod);
      const old = await run.take();
      run.queue.addOrUpdate(next);
      const report = () => {
        if (end === 'refused') run.queue.refused(old, waitingFor());
        else if (end === 'requeue') run.queue.requeue(old, 'error');
        else run.queue[end](old);
      };
      report();
      expect(run.states()).toBe('active');
      const taken = await run.take();
      report();
      expect(run.states()).toBe('inFlight');
      run.queue.refused(taken, waitingFor());
      report();
      expect(run.states()).toBe('unschedulable');
    },
  );

  test('is not affected by an attempt from before the pod was removed and added again', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const old = await run.take();
    run.queue.remove(pod.key);
    run.queue.addOrUpdate(pod);
    await run.take();
    run.queue.done(old);
    expect(run.states()).toBe('inFlight');
  });
});

describe('while a pod is in flight', () => {
  test.each<[string, string, string | undefined, (run: QueueRun) => void]>([
    [
      'a change that would have woken it counts',
      'backoff',
      'event',
      ({ queue }) => queue.observe(changeOf('a')),
    ],
    [
      'a change that would not have woken it does not count',
      'unschedulable',
      undefined,
      ({ queue }) => queue.observe(changeOf('b')),
    ],
    ['an update that may help counts', 'backoff', 'update', ({ queue }) => queue.addOrUpdate(pod)],
    [
      'another update does not count',
      'unschedulable',
      undefined,
      ({ queue }) => queue.addOrUpdate(pod, { mayHelp: false }),
    ],
    [
      'more changes than the log holds count as one that woke it',
      'backoff',
      'event',
      ({ queue }) => {
        for (let count = 0; count < 10_001; count += 1) queue.observe(changeOf('b'));
      },
    ],
  ])('%s', async (_, place, cause, happens) => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const taken = await run.take();
    happens(run);
    run.queue.refused(taken, waitingFor('a'));
    expect(run.states()).toBe(place);
    expect((await run.takeNow())?.cause).toBe(cause);
  });

  test('a change before its decision begins does not count, and one during the decision does', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const taken = await run.take();
    run.queue.observe(changeOf('a'));
    run.queue.startDeciding(taken);
    run.queue.observe(changeOf('b'));
    run.queue.refused(taken, waitingFor('a'));
    expect(run.states()).toBe('unschedulable');
    run.queue.observe(changeOf('a'));
    const again = (await run.takeNow())!;
    run.queue.startDeciding(again);
    run.queue.observe(changeOf('b'));
    run.queue.refused(again, waitingFor('b'));
    expect(run.states()).toBe('backoff');
    run.queue.startDeciding(again);
    expect(run.states()).toBe('backoff');
  });

  test('each of several pods sees the changes since it was taken, and none from before', async () => {
    const run = new QueueRun();
    for (const name of ['one', 'two', 'three']) run.queue.addOrUpdate(podOf(name));
    const [one, two] = [await run.take(), await run.take()];
    run.queue.observe(changeOf('a'));
    const three = await run.take();
    for (const taken of [two, three]) run.queue.refused(taken, waitingFor('a'));
    expect(run.states()).toBe('backoff, unschedulable, inFlight');
    run.queue.refused(one, waitingFor('a'));
    expect(run.states()).toBe('2 backoff, unschedulable');
    expect((await run.takeAll()).map((taken) => taken.pod.key)).toEqual(['default/two', 'default/one']);
  });

  test('each attempt sees only the changes since it began', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    const first = await run.take();
    run.queue.addOrUpdate(pod);
    run.queue.observe(changeOf('a'));
    run.queue.refused(first, waitingFor('a'));
    await run.refuse(waitingFor('a'));
    expect(run.states()).toBe('unschedulable');
  });

  test('changes are logged only while a pod in flight needs them', async () => {
    const run = new QueueRun();
    const { queue } = run;
    queue.observe(changeOf('a'));
    expect(queue.counts.loggedChanges).toBe(0);
    for (const name of ['one', 'two']) queue.addOrUpdate(podOf(name));
    const one = await run.take();
    for (let count = 0; count < 10; count += 1) queue.observe(changeOf('a'));
    const two = await run.take();
    for (let count = 0; count < 5; count += 1) queue.observe(changeOf('a'));
    expect(queue.counts.loggedChanges).toBe(15);
    queue.done(one);
    expect(queue.counts.loggedChanges).toBe(5);
    queue.remove(two.pod.key);
    expect(queue.counts.loggedChanges).toBe(0);
  });

  test('the log of changes is bounded', async () => {
    const run = new QueueRun();
    run.queue.addOrUpdate(pod);
    await run.take();
    for (let count = 0; count < 25_000; count += 1) run.queue.observe(changeOf('a'));
    expect(run.queue.counts.loggedChanges).toBeLessThanOrEqual(10_000);
  });
});
