import { beforeEach, describe, expect, test } from 'vitest';
import { settle } from '../../store/testing/manual-durability.ts';
import type { RegistryEvent } from '../registry.ts';
import { type AnyObject, errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const make = (name: string, color: string, namespace = 'default') =>
  fixture.create('configmaps', { metadata: { namespace, name, labels: { color } } });
const paint = (name: string, color: string) =>
  fixture.patch('configmaps', name, { metadata: { labels: { color } } });

function objectOf(event: RegistryEvent | undefined): AnyObject {
  if (event === undefined || event.type === 'BOOKMARK') throw new Error('expected a change');
  return event.snapshot.object as AnyObject;
}

describe('an object and a selector', () => {
  const colors = ['red', 'blue'] as const;
  const changes = colors.flatMap((from) => colors.map((to) => ({ from, to })));

  test.each(changes)('from $from to $to', async ({ from, to }) => {
    await make('a', from);
    const query = { namespace: 'default', labelSelector: 'color=red' };
    const { resourceVersion } = await fixture.list('configmaps', query);
    const { described } = await fixture.watch('configmaps', { ...query, resourceVersion });
    await fixture.patch('configmaps', 'a', { metadata: { labels: { color: to } }, data: { k: 'v' } });
    await settle();
    const type = { redred: ['MODIFIED'], bluered: ['ADDED'], redblue: ['DELETED'], blueblue: [] }[from + to];
    expect(described()).toEqual(type?.map((each) => `${each} a@${fixture.store.revision}`));
  });

  test('an object that no longer matches is shown in its last matching state with the new version', async () => {
    await make('a', 'red');
    const { events } = await fixture.watch('configmaps', { labelSelector: 'color=red' });
    await paint('a', 'blue');
    const { metadata } = objectOf(events.at(-1));
    expect([metadata.labels?.color, metadata.resourceVersion]).toEqual([
      'red',
      String(fixture.store.revision),
    ]);
  });

  test('the removal of an object that did not match is not delivered', async () => {
    await make('a', 'blue');
    const { events } = await fixture.watch('configmaps', { labelSelector: 'color=red' });
    await fixture.delete('configmaps', 'a');
    await settle();
    expect(events).toEqual([]);
  });

  test('names and namespaces select too', async () => {
    await fixture.create('namespaces', { metadata: { name: 'other' } });
    const byName = await fixture.watch('configmaps', { fieldSelector: 'metadata.name=a' });
    const byPlace = await fixture.watch('configmaps', { namespace: 'other' });
    const byField = await fixture.watch('configmaps', { fieldSelector: 'metadata.namespace=other' });
    await make('a', 'red');
    await make('b', 'red', 'other');
    await settle();
    const names = [byName, byPlace, byField].map(({ events }) =>
      events.map((event) => objectOf(event).metadata.name),
    );
    expect(names).toEqual([['a'], ['b'], ['b']]);
  });
});

test('all watchers receive the same event', async () => {
  const one = await fixture.watch('configmaps');
  const other = await fixture.watch('configmaps', { labelSelector: 'color' });
  await make('a', 'red');
  await settle();
  expect(one.events).toHaveLength(1);
  expect(other.events[0]).toBe(one.events[0]);
});

describe('the start of a watch', () => {
  test.each([
    [{}, ['ADDED a', 'ADDED b']],
    [{ resourceVersion: '0' }, ['ADDED a', 'ADDED b']],
    [{ sendInitialEvents: true }, ['ADDED a', 'ADDED b']],
    [{ sendInitialEvents: true, bookmarks: true }, ['ADDED a', 'ADDED b', 'BOOKMARK end']],
    [{ sendInitialEvents: false }, []],
    [{ sendInitialEvents: false, resourceVersion: '0' }, []],
  ])('%j', async (query, first) => {
    await make('a', 'red');
    await make('b', 'red');
    const { described } = await fixture.watch('configmaps', { namespace: 'default', ...query });
    const withoutVersions = () => described().map((text) => text.replace(/@\d+/, ''));
    expect(withoutVersions()).toEqual(first);
    await make('c', 'red');
    await settle();
    expect(withoutVersions()).toEqual([...first, 'ADDED c']);
  });

  test('after a version, with all changes since', async () => {
    const { metadata } = await make('a', 'red');
    await paint('a', 'blue');
    await fixture.delete('configmaps', 'a');
    const at = Number(metadata.resourceVersion);
    const { described } = await fixture.watch('configmaps', { resourceVersion: String(at) });
    expect(described()).toEqual([`MODIFIED a@${at + 1}`, `DELETED a@${at + 2}`]);
  });

  test('in the future, with no events until then', async () => {
    const { described } = await fixture.watch('configmaps', {
      resourceVersion: String(fixture.store.revision + 2),
    });
    for (const name of ['a', 'b', 'c']) await make(name, 'red');
    await settle();
    expect(described()).toEqual([`ADDED c@${fixture.store.revision}`]);
  });

  test('a future state is refused', async () => {
    const call = fixture.watch('configmaps', { resourceVersion: '99999', sendInitialEvents: true });
    expect(await errorOf(call)).toMatch(/^Timeout: Timeout: Too large resource version: 99999/);
  });

  test('an invalid version is refused', async () => {
    expect(await errorOf(fixture.watch('configmaps', { resourceVersion: 'x' }))).toMatch(/^500: /);
  });
});

test('a closed watch delivers nothing', async () => {
  const { events, handle } = await fixture.watch('configmaps');
  handle.close();
  await make('a', 'red');
  await settle();
  expect(events).toEqual([]);
});

describe('Events of two groups', () => {
  const core = {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    reason: 'Started',
    message: 'it has',
    type: 'Normal',
  };

  test('are the same objects in two forms', async () => {
    const inCore = await fixture.watch('/events');
    const inNew = await fixture.watch('events.k8s.io/events');
    await fixture.create('/events', core);
    await settle();
    expect(objectOf(inCore.events[0])).toMatchObject({ apiVersion: 'v1', message: 'it has' });
    expect(objectOf(inNew.events[0])).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      note: 'it has',
      regarding: { name: 'p' },
    });
    const { items } = await fixture.list('events.k8s.io/events');
    expect(items.map(({ apiVersion, object }) => [apiVersion, object.apiVersion])).toEqual([
      ['events.k8s.io/v1', 'events.k8s.io/v1'],
    ]);
  });

  test('a change in one group is visible in the other; the managers of the other are dropped, as in Kubernetes', async () => {
    await fixture.create('/events', core);
    await fixture.patch(
      'events.k8s.io/events',
      'e',
      { metadata: { labels: { a: 'b' } } },
      { manager: 'new' },
    );
    const { metadata, message } = await fixture.get('/events', 'e');
    expect([metadata.labels, message]).toEqual([{ a: 'b' }, 'it has']);
    expect(metadata.managedFields).toMatchObject([{ manager: 'new', apiVersion: 'events.k8s.io/v1' }]);
  });

  test('a change without effect writes nothing', async () => {
    await fixture.create('events.k8s.io/events', {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      reason: 'Started',
      action: 'Start',
      type: 'Normal',
      reportingController: 'x.io/c',
      reportingInstance: 'c-1',
    });
    const before = fixture.store.revision;
    await fixture.patch('events.k8s.io/events', 'e', { metadata: { name: 'e' } });
    expect(fixture.store.revision).toBe(before);
  });
});
