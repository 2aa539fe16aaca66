import { describe, expect, test } from 'vitest';
import { EmbeddedFixture } from '../cluster/testing/embedded-fixture.ts';
import { failWith, hang, verbsOf } from '../cluster/testing/fault-hooks.ts';
import { failure } from '../kube/api-error.ts';
import { events, namespaces } from '../kube/resources.ts';
import { idsFrom } from '../runtime/ids.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { type EventInput, EventRecorder, type EventRecorderOptions, referenceTo } from './event-recorder.ts';

async function begin(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const random = seededRandom('events');
  const supervisor = new Supervisor({ clock, random, onCrash: (crash) => expect.fail(String(crash.error)) });
  const { cluster, intercepted, calls } = await EmbeddedFixture.start(clock);
  const errors: unknown[] = [];
  const recorder = new EventRecorder({
    events: intercepted.resource(events),
    reportingController: 'stowage.dev/scheduler',
    reportingInstance: 'scheduler-0',
    clock,
    random,
    ids: idsFrom(random),
    supervisor,
    onError: (error) => errors.push(error),
    ...options,
  });
  /** Events as stored by the server. */
  const written = async () => (await cluster.resource(events).list()).items;
  return { clock, cluster, intercepted, calls, written, recorder, errors, supervisor };
}

function eventInput(changes: Partial<EventInput> = {}): EventInput {
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web-0', uid: 'u1' },
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note: 'no node fits',
    ...changes,
  };
}

describe('an event recorder', () => {
  test('writes an event in the form that events.k8s.io/v1 requires', async () => {
    const { clock, written, recorder } = await begin();
    recorder.record(eventInput());
    await clock.advance(0);
    const found = await written();
    expect(found).toMatchObject([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: 'default', name: expect.stringMatching(/^web-0\.18867251[0-9a-f]{8}$/) },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'stowage.dev/scheduler',
        reportingInstance: 'scheduler-0',
        action: 'Scheduling',
        reason: 'FailedScheduling',
        regarding: { name: 'web-0' },
        note: 'no node fits',
        type: 'Warning',
      },
    ]);
    expect(found[0]?.series).toBeUndefined();
  });

  test('does not collide with another recorder that reports on the same object at the same time', async () => {
    const { clock, cluster, written, recorder, supervisor } = await begin();
    const other = new EventRecorder({
      events: cluster.resource(events),
      reportingController: 'stowage.dev/provisioner',
      reportingInstance: 'other',
      clock,
      random: seededRandom('others'),
      ids: idsFrom(seededRandom('others')),
      supervisor,
    });
    recorder.record(eventInput());
    other.record(eventInput({ reason: 'Provisioning' }));
    await clock.advance(0);
    expect((await written()).map(({ reason }) => reason).sort()).toEqual([
      'FailedScheduling',
      'Provisioning',
    ]);
  });

  test('counts a repeated event instead of writing it again, even if the object has a newer version', async () => {
    const { clock, calls, written, recorder } = await begin();
    for (const resourceVersion of ['1', '2', '3']) {
      recorder.record(eventInput({ regarding: { ...eventInput().regarding, resourceVersion } }));
      await clock.advance(60_000);
    }
    expect(verbsOf(calls)).toEqual(['create', 'patch', 'patch']);
    expect((await written()).map(({ series }) => series)).toEqual([
      { count: 3, lastObservedTime: '2026-01-01T00:02:00.000000Z' },
    ]);
  });

  test.each([
    ['another note', { note: 'two nodes are full' }],
    ['another reason', { reason: 'VolumeConflict' }],
    ['another action', { action: 'Binding' }],
    ['another type', { type: 'Normal' as const }],
    ['another object', { regarding: { kind: 'Pod', namespace: 'default', name: 'web-1' } }],
  ])('writes a separate event for %s', async (_, changes) => {
    const { clock, written, recorder } = await begin();
    recorder.record(eventInput());
    recorder.record(eventInput(changes));
    await clock.advance(0);
    expect(await written()).toHaveLength(2);
  });

  test('starts a new series when the window is over', async () => {
    const { clock, written, recorder } = await begin();
    recorder.record(eventInput());
    await clock.advance(10 * 60_000);
    recorder.record(eventInput());
    await clock.advance(0);
    expect(await written()).toHaveLength(2);
  });

  test('lets one object write 25 times, then once in five minutes, and keeps counting', async () => {
    const { clock, calls, written, recorder } = await begin();
    for (let i = 0; i < 100; i += 1) {
      recorder.record(eventInput());
      await clock.advance(0);
    }
    expect(calls).toHaveLength(25);
    recorder.record(eventInput({ regarding: { kind: 'Pod', namespace: 'default', name: 'quiet' } }));
    await clock.advance(300_000);
    expect(calls).toHaveLength(26);
    recorder.record(eventInput());
    await clock.advance(0);
    expect((await written()).map(({ series }) => series?.count)).toEqual([undefined, 101]);
    expect(recorder.metrics()).toEqual({ recorded: 27, suppressed: 75, dropped: 0 });
  });

  test('creates the event again when the server has deleted it', async () => {
    const { clock, cluster, written, recorder } = await begin();
    recorder.record(eventInput());
    await clock.advance(0);
    await cluster.resource(events).deleteCollection({ namespace: 'default' });
    recorder.record(eventInput());
    await clock.advance(0);
    expect((await written()).map(({ series }) => series?.count)).toEqual([2]);
  });

  test('retries while the server is unavailable, and drops what the server rejects', async () => {
    const { clock, cluster, intercepted, written, recorder, errors } = await begin();
    const recover = intercepted.addHooks({ before: failWith(failure(503, 'ServiceUnavailable', 'away')) });
    recorder.record(eventInput());
    await clock.advance(30_000);
    expect(await written()).toEqual([]);
    recover();
    await clock.advance(30_000);
    expect(await written()).toHaveLength(1);
    await cluster.resource(namespaces).create({ metadata: { name: 'ending' } });
    await cluster.resource(namespaces).delete({ name: 'ending' });
    recorder.record(eventInput({ regarding: { kind: 'Pod', namespace: 'ending', name: 'web-0' } }));
    await clock.advance(0);
    expect(errors).toMatchObject([{ reason: 'Forbidden' }]);
    expect(recorder.metrics().dropped).toBe(1);
  });

  // The recorder stops retrying: its second attempt finds the event and treats that as a rejection.
  test('continues the count on an event even if the answer to its creation was lost', async () => {
    const { clock, intercepted, written, recorder } = await begin();
    const answer = intercepted.addHooks({
      after: failWith(failure(503, 'ServiceUnavailable', 'connection reset')),
    });
    recorder.record(eventInput());
    await clock.advance(0);
    answer();
    await clock.advance(30_000);
    recorder.record(eventInput());
    await clock.advance(0);
    expect((await written()).map(({ series }) => series?.count)).toEqual([2]);
    expect(recorder.metrics().dropped).toBe(0);
  });

  test('drops events when the queue is full, and never throws to the caller', async () => {
    const { clock, intercepted, recorder } = await begin({ queueDepthMax: 2 });
    intercepted.addHooks({ before: hang() });
    await clock.advance(0);
    for (let i = 0; i < 20; i += 1) recorder.record(eventInput({ note: `note ${i}` }));
    recorder.record({} as EventInput);
    expect(recorder.metrics().dropped).toBeGreaterThanOrEqual(8);
  });

  test('writes pending events and held-back counts when it is closed', async () => {
    const { clock, written, recorder, supervisor } = await begin();
    for (let i = 0; i < 40; i += 1) {
      recorder.record(eventInput());
      await clock.advance(0);
    }
    recorder.record(eventInput({ regarding: { kind: 'Pod', namespace: 'default', name: 'last' } }));
    await recorder.close();
    expect((await written()).map(({ series }) => series?.count)).toEqual([undefined, 40]);
    expect(await supervisor.close()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('does not wait without limit for an unavailable server when it is closed', async () => {
    const { clock, intercepted, recorder } = await begin();
    intercepted.addHooks({ before: failWith(failure(503, 'ServiceUnavailable', 'away')) });
    recorder.record(eventInput());
    const closed = recorder.close();
    await clock.advance(10_000);
    await closed;
    expect(recorder.metrics().dropped).toBe(1);
  });

  test('stays within the limits of the server: names, lengths, namespaces', async () => {
    const { clock, written, recorder } = await begin();
    recorder.record(eventInput({ note: 'ä'.repeat(1_000), regarding: { kind: 'Node', name: 'Bad_Name' } }));
    await clock.advance(0);
    const [event] = await written();
    expect(Buffer.byteLength(event?.note ?? '')).toBeLessThanOrEqual(1024);
    expect(event?.note).toMatch(/^ä+\.\.\.$/);
    expect(event?.metadata?.name).toMatch(/^[0-9a-f]{8}-[0-9a-f-]+$/);
    expect(event?.metadata?.namespace).toBe('default');
  });
});

test('a reference includes the kind, even for objects that do not carry it', () => {
  const object = { metadata: { name: 'n1', uid: 'u1', resourceVersion: '5' } };
  expect(referenceTo(object, { apiVersion: 'v1', kind: 'Node' })).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    name: 'n1',
    uid: 'u1',
    resourceVersion: '5',
  });
});
