import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../kube/api/core.ts';
import type { ApiError } from '../../kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../../kube/api-requests.ts';
import { configMaps } from '../../kube/resources.ts';
import type { KubernetesConnectOptions } from './client.ts';
import {
  eventLine,
  type FakeApiHandler,
  FakeApiServer,
  respond,
  statusBody,
} from './testing/fake-api-server.ts';

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

/** Watches a server that writes this, and returns the events and how the watch ended. */
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
  const lines = seen.map((event) =>
    event.type === 'BOOKMARK' ? `@${event.resourceVersion}` : `${event.type} ${event.object.metadata?.name}`,
  );
  return { lines, end, seen, url: server.received[0]?.url };
}

const bookmark = (version: string, annotations?: object) =>
  `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version, annotations } } })}\n`;

describe('a watch', () => {
  test('sends its options, and ends when the server ends it', async () => {
    const { lines, end, url } = await watch(
      (response) =>
        response.end(eventLine('ADDED', 'a', '8') + eventLine('DELETED', 'a', '9') + bookmark('12')),
      { namespace: 'default', resourceVersion: '7', timeoutSeconds: 300, labelSelector: 'app=web' },
    );
    expect(lines).toEqual(['ADDED a', 'DELETED a', '@12']);
    expect(end).toBe('ended');
    expect(url).toBe(
      '/api/v1/namespaces/default/configmaps?watch=true&labelSelector=app%3Dweb&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true',
    );
  });

  test('reports when the initial objects are complete', async () => {
    const { seen, url } = await watch(
      (response) =>
        response.end(eventLine('ADDED', 'a', '8') + bookmark('9', { 'k8s.io/initial-events-end': 'true' })),
      { sendInitialEvents: true },
    );
    expect(seen[1]).toEqual({ type: 'BOOKMARK', resourceVersion: '9', isInitialEnd: true });
    expect(url).toContain('sendInitialEvents=true&resourceVersionMatch=NotOlderThan');
  });

  test('joins lines that are split anywhere, even within a character', async () => {
    const names = ['a', 'übergroß', '日本'];
    const bytes = Buffer.from(names.map((name, index) => eventLine('ADDED', name, String(index))).join(''));
    const { lines, end } = await watch(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        if (byte === 0xc3 || byte === 0xe6) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    });
    expect(lines).toEqual(names.map((name) => `ADDED ${name}`));
    expect(end).toBe('ended');
  });

  test.each([
    ['a line that is not JSON', 'garbage\n', 'a line is not JSON'],
    ['a line that is not an event', '{"kind":"Pod"}\n', 'a line is not an event'],
    ['an unknown type', '{"type":"RENAMED","object":{}}\n', 'unknown event type "RENAMED"'],
    [
      'a bookmark without a version',
      '{"type":"BOOKMARK","object":{}}\n',
      'a bookmark has no resourceVersion',
    ],
    ['half a line at the end', '{"type":"ADDED","obj', 'the stream ended in the middle of a line'],
  ])('fails if it receives %s, after the events before it', async (_, text, message) => {
    const { lines, end } = await watch((response) => response.end(eventLine('ADDED', 'a', '8') + text));
    expect(lines).toEqual(['ADDED a']);
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

  test('turns an ERROR event into the error it contains', async () => {
    const object = statusBody(410, 'Expired', 'too old resource version: 7 (99)');
    const { lines, end } = await watch((response) =>
      response.end(`${eventLine('ADDED', 'a', '8')}${JSON.stringify({ type: 'ERROR', object })}\n`),
    );
    expect(lines).toEqual(['ADDED a']);
    expect(end).toMatchObject({ code: 410, reason: 'Expired' });
  });

  test('fails with the HTTP error', async () => {
    const { cluster } = await serve((_, response) => respond(response, 410, statusBody(410, 'Expired')));
    const events = cluster.resource(configMaps).watch({ signal: new AbortController().signal });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'Expired' });
  });

  test('fails when the connection breaks', async () => {
    const { lines, end } = await watch((response) =>
      response.write(eventLine('ADDED', 'a', '8'), () => setTimeout(() => response.destroy(), 20)),
    );
    expect(lines).toEqual(['ADDED a']);
    expect(end).toMatchObject({ reason: 'ServiceUnavailable' });
  });

  test('is ended when it has been silent for too long', async () => {
    const { lines, end } = await watch(
      (response) => response.write(eventLine('ADDED', 'a', '8')),
      {},
      {
        watchSilenceMsMax: 2_500,
      },
    );
    expect(lines).toEqual(['ADDED a']);
    expect(end).toMatchObject({ reason: 'Timeout', message: expect.stringContaining('silent') });
  });

  test('is not ended while bookmarks arrive, and has no timeout as requests have', async () => {
    const { lines, end } = await watch(
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
    expect(lines).toHaveLength(8);
    expect(end).toBe('ended');
  });

  test('ends when its signal aborts, and releases the connection', async () => {
    const controller = new AbortController();
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { lines, end } = await watch(
      (response) => {
        response.on('close', isClosed);
        response.write(eventLine('ADDED', 'a', '8'), () => setTimeout(() => controller.abort(), 20));
      },
      { signal: controller.signal },
    );
    expect(lines).toEqual(['ADDED a']);
    expect(end).toBe('ended');
    await closed;
  });

  test('releases the connection when the reader stops', async () => {
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
