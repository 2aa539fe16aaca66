import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ServedCluster, serveCluster } from '../testing/served-cluster.ts';
import { WatchClient, type WatchLine } from '../testing/watch-client.ts';

let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
});

afterAll(async () => {
  await cluster.close();
  expect(cluster.errors).toEqual([]);
});

const classes = '/apis/storage.k8s.io/v1/storageclasses';

beforeEach(async () => {
  await cluster.call('DELETE', classes);
});

describe('a watch', () => {
  test('begins with the existing objects and continues with changes', async () => {
    await create('a');
    const watch = await WatchClient.open(cluster, `${classes}?watch=1`);
    expect(describeLines(await watch.take(1))).toEqual(['ADDED a']);
    await create('b');
    await cluster.call('DELETE', `${classes}/a`);
    expect(describeLines(await watch.take(2))).toEqual(['ADDED b', 'DELETED a']);
    watch.close();
  });

  test('continues from the version of a list without gaps', async () => {
    await create('a');
    const list = (await cluster.call('GET', classes)).json<{ metadata: { resourceVersion: string } }>();
    await create('b');
    await label('a');
    const path = `${classes}?watch=1&resourceVersion=${list.metadata.resourceVersion}`;
    const watch = await WatchClient.open(cluster, path);
    expect(describeLines(await watch.take(2))).toEqual(['ADDED b', 'MODIFIED a']);
    watch.close();
  });

  test('streams the list first and marks its end', async () => {
    await create('a');
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await WatchClient.open(cluster, `${classes}?${query}`);
    const [first, second] = await watch.take(2);
    expect(describeLines([first!])).toEqual(['ADDED a']);
    expect(second).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'StorageClass', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await create('b');
    expect(describeLines(await watch.take(1))).toEqual(['ADDED b']);
    watch.close();
  });

  test('without a version marks the end of the initial events for clients with bookmarks', async () => {
    await create('a');
    const watch = await WatchClient.open(
      cluster,
      `${classes}?watch=1&resourceVersion=0&allowWatchBookmarks=1`,
    );
    const [, end] = await watch.take(2);
    expect(end?.object.metadata?.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    watch.close();
  });

  test('of one object by a legacy path', async () => {
    await create('a');
    await create('b');
    const path = '/apis/storage.k8s.io/v1/watch/storageclasses/b';
    const watch = await WatchClient.open(cluster, path);
    await label('a');
    await label('b');
    expect(describeLines(await watch.take(2))).toEqual(['ADDED b', 'MODIFIED b']);
    watch.close();
  });

  test('in tables has column definitions once', async () => {
    await create('a');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const watch = await WatchClient.open(cluster, `${classes}?watch=1`, accept);
    await create('b');
    const [first, second] = await watch.take(2);
    expect(first?.object.rows?.[0]?.cells[0]).toBe('a');
    expect(first?.object.columnDefinitions).toHaveLength(6);
    expect(second?.object.rows?.[0]?.cells[0]).toBe('b');
    expect(second?.object.columnDefinitions).toBeNull();
    watch.close();
  });

  test('ends gracefully with a bookmark after the requested timeout', async () => {
    const watch = await WatchClient.open(
      cluster,
      `${classes}?watch=1&timeoutSeconds=1&allowWatchBookmarks=1`,
    );
    const lines = await watch.ended();
    expect(bookmarks(lines)).toEqual(['end of the start', 'plain']);
    expect(watch.isComplete).toBe(true);
  });

  test.each([
    ['resourceVersion=abc', 500],
    ['fieldSelector=foo%3Dbar', 400],
    ['labelSelector=-a', 400],
    ['sendInitialEvents=true', 422],
  ])('with %s is refused with %i before it begins', async (query, status) => {
    expect((await cluster.call('GET', `${classes}?watch=1&${query}`)).status).toBe(status);
  });

  test('is closed with the connection', async () => {
    const before = cluster.server.metrics.watchesOpen;
    const watch = await WatchClient.open(cluster, `${classes}?watch=1`);
    expect(cluster.server.metrics.watchesOpen).toBe(before + 1);
    watch.close();
    await expect.poll(() => cluster.server.metrics.watchesOpen).toBe(before);
  });
});

describe('a watcher that does not read', () => {
  test('is disconnected and resumes from its last version', async () => {
    const watch = await WatchClient.open(cluster, `${classes}?watch=1`);
    watch.pause();
    const before = cluster.server.metrics.watchesCut;
    const parameters = { padding: 'x'.repeat(200_000) };
    let made = 0;
    while (cluster.server.metrics.watchesCut === before && made < 200) {
      await create(`n${String(made).padStart(3, '0')}`, { parameters });
      made += 1;
    }
    expect(cluster.server.metrics.watchesCut).toBe(before + 1);
    watch.close();
    const { items } = (await cluster.call('GET', classes)).json<{
      items: { metadata: { name: string; resourceVersion: string } }[];
    }>();
    const seen = items[Math.floor(made / 2)]!;
    const path = `${classes}?watch=1&resourceVersion=${seen.metadata.resourceVersion}`;
    const resumed = await WatchClient.open(cluster, path);
    const missed = items.slice(Math.floor(made / 2) + 1).map(({ metadata }) => `ADDED ${metadata.name}`);
    expect(describeLines(await resumed.take(missed.length))).toEqual(missed);
    resumed.close();
  });
});

describe('a closing server', () => {
  test('ends its watches gracefully, then stops listening', async () => {
    const own = await serveCluster();
    const watches = await Promise.all(
      ['', '&allowWatchBookmarks=1'].map((more) => WatchClient.open(own, `${classes}?watch=1${more}`)),
    );
    await own.close();
    expect((await watches[0]?.ended())?.map(({ type }) => type)).toEqual([]);
    expect(bookmarks((await watches[1]?.ended()) ?? [])).toEqual(['end of the start', 'plain']);
    expect(watches.map(({ isComplete }) => isComplete)).toEqual([true, true]);
    await expect(own.call('GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(own.server.metrics).toMatchObject({ inFlight: 0, watchesOpen: 0 });
  });
});

async function create(name: string, more: object = {}): Promise<void> {
  const body = { metadata: { name }, provisioner: 'a/b', ...more };
  expect((await cluster.call('POST', classes, { body })).status).toBe(201);
}

async function label(name: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { metadata: { labels: { touched: 'yes' } } };
  expect((await cluster.call('PATCH', `${classes}/${name}`, { body, headers })).status).toBe(200);
}

function describeLines(lines: readonly WatchLine[]): string[] {
  return lines.map(({ type, object }) => `${type} ${object.metadata?.name}`);
}

function bookmarks(lines: readonly WatchLine[]): string[] {
  expect(lines.every(({ type }) => type === 'BOOKMARK')).toBe(true);
  return lines.map(({ object }) =>
    object.metadata?.annotations === undefined ? 'plain' : 'end of the start',
  );
}
