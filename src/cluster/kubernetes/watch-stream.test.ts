import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../kube/api/core.ts';
import type { ApiError } from '../../kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../../kube/api-requests.ts';
import { configMaps } from '../../kube/resources.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import type { KubernetesConnectOptions } from './client.ts';
import {
  eventLine,
  type FakeApiHandler,
  FakeApiServer,
  listBody,
  respond,
  statusBody,
} from './testing/fake-api-server.ts';
import { fastClock } from './testing/fast-clock.ts';

const servers: FakeApiServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: FakeApiHandler, options: Partial<KubernetesConnectOptions> = {}) {
  const server = await FakeApiServer.start(handler);
  servers.push(server);
  const cluster = await server.connect({}, options);
  return { server, cluster };
}

/** Watches a server that writes this, and tells what came of it: the events, then how it ended. */
async function watch(
  write: (response: ServerResponse) => unknown,
  options: Partial<WatchOptions> = {},
  connect: Partial<KubernetesConnectOptions> = {},
) {
  const { server, cluster } = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    write(response);
  }, connect);
  const seen: WatchEvent<ConfigMap>[] = [];
  const signal = options.signal ?? new AbortController().signal;
  let end: ApiError | 'ended' = 'ended';
  try {
    for await (const event of cluster.resource(configMaps).watch({ bookmarks: true, ...options, signal }))
      seen.push(event);
  } catch (error) {
    end = error as ApiError;
  }
  const told = seen.map((event) =>
    event.type === 'BOOKMARK' ? `@${event.resourceVersion}` : `${event.type} ${event.object.metadata?.name}`,
  );
  return { told, end, seen, url: server.received[0]?.url };
}

const bookmark = (version: string, annotations?: object) =>
  `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version, annotations } } })}\n`;

describe('a watch', () => {
  test('asks for what it wants, and ends when the server ends it', async () => {
    const { told, end, url } = await watch(
      (response) =>
        response.end(eventLine('ADDED', 'a', '8') + eventLine('DELETED', 'a', '9') + bookmark('12')),
      { namespace: 'default', resourceVersion: '7', timeoutSeconds: 300, labelSelector: 'app=web' },
    );
    expect(told).toEqual(['ADDED a', 'DELETED a', '@12']);
    expect(end).toBe('ended');
    expect(url).toBe(
      '/api/v1/namespaces/default/configmaps?watch=true&labelSelector=app%3Dweb&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true',
    );
  });

  test('tells when the initial objects are complete', async () => {
    const { seen, url } = await watch(
      (response) =>
        response.end(eventLine('ADDED', 'a', '8') + bookmark('9', { 'k8s.io/initial-events-end': 'true' })),
      { sendInitialEvents: true },
    );
    expect(seen[1]).toEqual({ type: 'BOOKMARK', resourceVersion: '9', isInitialEnd: true });
    expect(url).toContain('sendInitialEvents=true&resourceVersionMatch=NotOlderThan');
  });

  test('puts lines together however they are cut, also within a character', async () => {
    const names = ['a', 'übergroß', '日本'];
    const bytes = Buffer.from(names.map((name, index) => eventLine('ADDED', name, String(index))).join(''));
    const { told, end } = await watch(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        if (byte === 0xc3 || byte === 0xe6) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    });
    expect(told).toEqual(names.map((name) => `ADDED ${name}`));
    expect(end).toBe('ended');
  });

  test.each([
    ['a line that is not JSON', 'garbage\n', 'a line is not JSON'],
    ['a line that is no event', '{"kind":"Pod"}\n', 'a line is not an event'],
    ['an unknown type', '{"type":"RENAMED","object":{}}\n', 'there is no event of type "RENAMED"'],
    [
      'a bookmark without a version',
      '{"type":"BOOKMARK","object":{}}\n',
      'a bookmark has no resourceVersion',
    ],
    ['half a line at the end', '{"type":"ADDED","obj', 'the stream ended in the middle of a line'],
  ])('says so when it gets %s, after the events before it', async (_, text, message) => {
    const { told, end } = await watch((response) => response.end(eventLine('ADDED', 'a', '8') + text));
    expect(told).toEqual(['ADDED a']);
    expect(end).toMatchObject({ reason: 'InternalError', message: expect.stringContaining(message) });
  });

  test('refuses a line without end', async () => {
    const { end } = await watch((response) => {
      const filler = 'x'.repeat(1024 * 1024);
      const more = () => {
        if (!response.destroyed) response.write(filler, more);
      };
      more();
    });
    expect((end as ApiError).message).toContain('a line is longer than 16777216 bytes');
  });

  test('turns an ERROR event into the error it holds', async () => {
    const object = statusBody(410, 'Expired', 'too old resource version: 7 (99)');
    const { told, end } = await watch((response) =>
      response.end(`${eventLine('ADDED', 'a', '8')}${JSON.stringify({ type: 'ERROR', object })}\n`),
    );
    expect(told).toEqual(['ADDED a']);
    expect(end).toMatchObject({ code: 410, reason: 'Expired' });
  });

  test('fails with what HTTP says', async () => {
    const { cluster } = await serve((_, response) => respond(response, 410, statusBody(410, 'Expired')));
    const events = cluster.resource(configMaps).watch({ signal: new AbortController().signal });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'Expired' });
  });

  test('fails when the connection breaks', async () => {
    const { told, end } = await watch((response) =>
      response.write(eventLine('ADDED', 'a', '8'), () => setTimeout(() => response.destroy(), 20)),
    );
    expect(told).toEqual(['ADDED a']);
    expect(end).toMatchObject({ reason: 'ServiceUnavailable' });
  });

  test('is given up when it has been silent for too long', async () => {
    const { told, end } = await watch(
      (response) => response.write(eventLine('ADDED', 'a', '8')),
      {},
      {
        watchSilenceMsMax: 2_500,
      },
    );
    expect(told).toEqual(['ADDED a']);
    expect(end).toMatchObject({ reason: 'Timeout', message: expect.stringContaining('silent') });
  });

  test('is not given up while bookmarks come, and has no time limit as requests have', async () => {
    const { told, end } = await watch(
      async (response) => {
        for (let i = 1; i <= 8; i += 1) {
          response.write(bookmark(String(i)));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        response.end();
      },
      {},
      { watchSilenceMsMax: 100_000, requestTimeoutMs: 3_000 },
    );
    expect(told).toHaveLength(8);
    expect(end).toBe('ended');
  });

  test('ends when it is told to, and lets the connection go', async () => {
    const controller = new AbortController();
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { told, end } = await watch(
      (response) => {
        response.on('close', isClosed);
        response.write(eventLine('ADDED', 'a', '8'), () => setTimeout(() => controller.abort(), 20));
      },
      { signal: controller.signal },
    );
    expect(told).toEqual(['ADDED a']);
    expect(end).toBe('ended');
    await closed;
  });

  test('lets the connection go when the reader leaves', async () => {
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { cluster } = await serve((_, response) => {
      response.on('close', isClosed);
      response.writeHead(200);
      response.write(eventLine('ADDED', 'a', '8'));
    });
    const signal = new AbortController().signal;
    for await (const event of cluster.resource(configMaps).watch({ signal })) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await closed;
  });
});

/** Lists in two pages; then each watch does something else. */
function moody(moods: readonly ((response: ServerResponse) => unknown)[]): FakeApiHandler {
  let watches = 0;
  return ({ url }, response) => {
    if (url.includes('continue=')) respond(response, 200, listBody(['b'], '7'));
    else if (!url.includes('watch=')) respond(response, 200, listBody(['a'], '7', 'next'));
    else {
      response.writeHead(200);
      const mood = moods[watches] ?? ((last: ServerResponse) => last.write(' \n'));
      watches += 1;
      mood(response);
    }
  };
}

test('an informer follows a real connection through resets, garbage, silence and expiry', async () => {
  const expired = JSON.stringify({ type: 'ERROR', object: statusBody(410, 'Expired') });
  const { server, cluster } = await serve(
    moody([
      (response) => response.write(eventLine('ADDED', 'c', '8'), () => response.destroy()),
      (response) => response.end(`${eventLine('ADDED', 'd', '9')}garbage\n`),
      (response) => response.write(eventLine('MODIFIED', 'd', '10')),
      (response) => response.end(eventLine('DELETED', 'd', '11')),
      (response) => response.end(`${expired}\n`),
    ]),
    { watchSilenceMsMax: 10_000 },
  );
  const random = seededRandom('informer');
  const supervisor = new Supervisor({
    clock: fastClock,
    random,
    onCrash: (crash) => expect.fail(String(crash.error)),
  });
  const told: string[] = [];
  let isOver = () => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const informer = new Informer({ cluster, resource: configMaps, clock: fastClock, random, pageSize: 1 });
  informer.addHandler({
    added: ({ metadata }) => void told.push(`+${metadata?.name}`),
    updated: ({ metadata }) => void told.push(`*${metadata?.name}`),
    deleted: ({ metadata }) => {
      told.push(`-${metadata?.name}`);
      if (metadata?.name === 'c') isOver();
    },
  });
  informer.start(supervisor);
  await over;
  expect(await supervisor.close()).toEqual([]);
  expect(told).toEqual(['+a', '+b', '+c', '+d', '*d', '-d', '-c']);
  const from = server.received.map(({ url }) => /watch=true&resourceVersion=(\d+)/.exec(url)?.[1] ?? 'list');
  expect(from.slice(0, 9)).toEqual(['list', 'list', '7', '8', '9', '10', '11', 'list', 'list']);
});
