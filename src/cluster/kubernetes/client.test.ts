import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { type ApiError, isReason } from '../../kube/api-error.ts';
import { configMaps, driverCapacities, nodes, pods } from '../../kube/resources.ts';
import type { KubernetesConnectOptions } from './client.ts';
import {
  type FakeApiHandler,
  FakeApiServer,
  listBody,
  respond,
  statusBody,
} from './testing/fake-api-server.ts';

const servers: FakeApiServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: FakeApiHandler) {
  const server = await FakeApiServer.start(handler);
  servers.push(server);
  const cluster = await server.connect();
  return { server, cluster, maps: cluster.resource(configMaps), sent: server.received };
}

const key = { namespace: 'default', name: 'a' };
const object = { metadata: { name: 'a', namespace: 'default', resourceVersion: '5' } };

async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  return await call.then(
    () => expect.fail('it should have failed'),
    (error) => error,
  );
}

describe('requests', () => {
  test('are reported with their answers, including retries, and without their content', async () => {
    const server = await FakeApiServer.start(({ method }, response) => {
      if (method === 'DELETE') return void response.destroy();
      const isRefused = server.received.length === 1;
      respond(
        response,
        isRefused ? 503 : 200,
        isRefused ? statusBody(503, 'ServiceUnavailable') : listBody(),
      );
    });
    servers.push(server);
    const sent: string[] = [];
    const onRequest: KubernetesConnectOptions['onRequest'] = ({ request, outcome }) =>
      sent.push(`${request.replace(/^(\S+) http:\/\/[^/]+/, '$1 ')} ${outcome}`);
    const cluster = await server.connect({}, { onRequest });
    await cluster.resource(pods).list({ namespace: 'default', limit: 5 });
    await cluster.resource(configMaps).create(object);
    expect(sent).toEqual([
      'GET /api/v1/namespaces/default/pods?limit=5 503',
      'GET /api/v1/namespaces/default/pods?limit=5 200',
      'POST /api/v1/namespaces/default/configmaps 200',
    ]);
    await failureOf(cluster.resource(configMaps).delete(key));
    expect(sent.at(-1)).toMatch(/^DELETE \/api\S+ \w*Error: \S/);
  });

  test('go to the paths of the API, with their options', async () => {
    const { cluster, maps, sent } = await serve((_, response) => respond(response, 200, listBody()));
    await maps.get(key);
    await maps.get(key, { subresource: 'status' });
    await maps.list({ labelSelector: 'app in (a,b)', limit: 5, continue: 'x/y=' });
    await maps.list({ namespace: 'team a', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' });
    await maps.create(object, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' });
    await maps.update(object, { subresource: 'status' });
    await maps.delete(key, { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, dryRun: true });
    await maps.deleteCollection({ namespace: 'default', fieldSelector: 'metadata.name=a' });
    await cluster.resource(pods).post(key, 'binding', { kind: 'Binding' });
    await cluster.resource(nodes).get({ name: 'n1' });
    await cluster.resource(driverCapacities).get({ name: 'csi.example.com' });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/v1/namespaces/default/configmaps/a',
      'GET /api/v1/namespaces/default/configmaps/a/status',
      'GET /api/v1/configmaps?labelSelector=app%20in%20(a%2Cb)&limit=5&continue=x%2Fy%3D',
      'GET /api/v1/namespaces/team%20a/configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan',
      'POST /api/v1/namespaces/default/configmaps?dryRun=All&fieldManager=me&fieldValidation=Strict',
      'PUT /api/v1/namespaces/default/configmaps/a/status',
      'DELETE /api/v1/namespaces/default/configmaps/a',
      'DELETE /api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da',
      'POST /api/v1/namespaces/default/pods/a/binding',
      'GET /api/v1/nodes/n1',
      'GET /apis/stowage.dev/v1alpha1/drivercapacities/csi.example.com',
    ]);
    expect(JSON.parse(sent[4]?.body ?? '')).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', ...object });
    expect(JSON.parse(sent[6]?.body ?? '')).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      dryRun: ['All'],
    });
  });

  test.each([
    ['json', 'application/json-patch+json', { type: 'json', operations: [{ op: 'remove', path: '/data' }] }],
    ['merge', 'application/merge-patch+json', { type: 'merge', body: { data: null } }],
    ['strategic', 'application/strategic-merge-patch+json', { type: 'strategic', body: { data: {} } }],
    ['apply', 'application/apply-patch+yaml', { type: 'apply', body: { data: {} } }],
  ] as const)('declare the media type of a %s patch', async (_, contentType, patch) => {
    const { maps, sent } = await serve((_, response) => respond(response, 200, object));
    await maps.patch(key, patch, { fieldManager: 'me', ...(patch.type === 'apply' ? { force: true } : {}) });
    expect(sent[0]?.method).toBe('PATCH');
    expect(sent[0]?.headers['content-type']).toBe(contentType);
    expect(sent[0]?.url).toContain(
      patch.type === 'apply' ? '?fieldManager=me&force=true' : '?fieldManager=me',
    );
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual(patch.type === 'json' ? patch.operations : patch.body);
  });

  test('keep the base path of the server', async () => {
    const server = await FakeApiServer.start((_, response) => respond(response, 200, listBody()));
    servers.push(server);
    const cluster = await server.connect({ cluster: { server: `${server.url}/k8s/clusters/c-1/` } });
    await cluster.resource(nodes).list();
    expect(server.received[0]?.url).toBe('/k8s/clusters/c-1/api/v1/nodes');
  });

  test.each(['', '.', '..', 'a/b', 'a%2fb'])('never leave their path by the name %j', async (name) => {
    const { maps, sent } = await serve((_, response) => respond(response, 200, object));
    const error = await failureOf(maps.get({ namespace: 'default', name }));
    expect(error.reason).toBe('BadRequest');
    expect(sent).toEqual([]);
  });

  test('keep 64-bit integers exact in both directions', async () => {
    const large = 2n ** 53n + 1n;
    const text = `{"metadata":{"name":"a","namespace":"default","generation":${large}}}`;
    const { maps, sent } = await serve((_, response) => void response.end(text));
    const read = await maps.get(key);
    expect(read.metadata?.generation).toBe(large);
    await maps.update(read);
    await maps.patch(key, { type: 'merge', body: { metadata: { generation: large } } });
    expect(sent.slice(1).map(({ body }) => body.match(/"generation":(\d+)/)?.[1])).toEqual([
      String(large),
      String(large),
    ]);
  });

  test('need a namespace if the resource is namespaced', async () => {
    const { maps, sent } = await serve((_, response) => respond(response, 200, object));
    expect((await failureOf(maps.create({ metadata: { name: 'a' } }))).reason).toBe('BadRequest');
    expect((await failureOf(maps.get({ name: 'a' }))).reason).toBe('BadRequest');
    expect(sent).toEqual([]);
  });

  test('accept an empty list that is written as null', async () => {
    const { maps } = await serve((_, response) => respond(response, 200, { ...listBody(), items: null }));
    expect((await maps.list()).items).toEqual([]);
  });
});

describe('failures', () => {
  test.each([
    [404, statusBody(404, 'NotFound', 'configmaps "a" not found'), 'NotFound', 'configmaps "a" not found'],
    [
      404,
      '404 page not found',
      'NotFound',
      /^PUT http:.*configmaps\/a was answered with 404: 404 page not found$/,
    ],
    [409, '', 'Conflict', /answered with 409: \(nothing\)/],
    [413, '<html>too big</html>', 'RequestEntityTooLarge', /<html>too big/],
    [302, '', undefined, /redirected to http:\/\/elsewhere\/, and redirects are not followed/],
    [418, 'x'.repeat(5_000), undefined, /x{200}\.\.\.$/],
    [503, 'no upstream', 'ServiceUnavailable', /no upstream/],
    [500, '{"kind":"Nonsense"}', 'InternalError', /Nonsense/],
  ])('of %i become ApiErrors that say what happened', async (code, body, reason, message) => {
    const { maps } = await serve((_, response) =>
      respond(response, code, body, { location: 'http://elsewhere/' }),
    );
    const error = await failureOf(maps.update(object));
    expect([error.name, error.code, error.reason]).toEqual(['ApiError', code, reason]);
    expect(error.message).toMatch(message);
  });

  test('carry the retry delay', async () => {
    const { maps } = await serve((_, response) => respond(response, 503, 'busy', { 'retry-after': '120' }));
    expect((await failureOf(maps.get(key))).retryAfterSeconds).toBe(120);
  });

  test('of a 200 that is not JSON name the likely cause', async () => {
    const { maps } = await serve((_, response) => respond(response, 200, '<html>Please log in</html>'));
    const error = await failureOf(maps.update(object));
    expect(error.message).toMatch(
      /the body is not JSON: <html>Please log in<\/html>; check for a proxy in between$/,
    );
  });

  test('of an unreachable server say so', async () => {
    const { server } = await serve(() => {});
    const cluster = await server.connect({ cluster: { server: 'http://127.0.0.1:1' } });
    const error = await failureOf(cluster.resource(configMaps).get(key));
    expect(error).toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('of a request that takes too long are raised in time', async () => {
    const server = await FakeApiServer.start(() => {});
    servers.push(server);
    const cluster = await server.connect({}, { requestTimeoutMs: 3_000 });
    const error = await failureOf(cluster.resource(configMaps).get(key));
    expect([error.reason, error.message]).toEqual([
      'Timeout',
      expect.stringMatching(/took longer than 3 s$/),
    ]);
    // Not repeated. On a busy machine it may end before it has reached the server.
    expect(server.received.length).toBeLessThanOrEqual(1);
  });

  test('of an aborted call are the reason of the signal, at any time', async () => {
    const { maps, sent } = await serve((_, response) =>
      respond(response, 429, 'later', { 'retry-after': '20' }),
    );
    const reason = new Error('enough');
    await expect(maps.get(key, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(sent).toHaveLength(0);
    const controller = new AbortController();
    const waiting = maps.get(key, { signal: controller.signal });
    while (sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

/** Fails the first calls in some way, then answers. */
function failFirst(failures: number, fail: (response: ServerResponse) => void): FakeApiHandler {
  return (_, response, count) => (count <= failures ? fail(response) : respond(response, 200, object));
}

const ways: readonly (readonly [string, (response: ServerResponse) => void, boolean])[] = [
  ['429 with a time', (response) => respond(response, 429, 'slow down', { 'retry-after': '1' }), true],
  ['429 without a time', (response) => respond(response, 429, 'slow down'), false],
  ['500', (response) => respond(response, 500, statusBody(500, 'InternalError')), false],
  ['503 with a time', (response) => respond(response, 503, 'busy', { 'retry-after': '1' }), false],
  ['a connection reset before the answer', (response) => response.destroy(), false],
  [
    'a connection reset within the answer',
    (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"metadata":', () => response.destroy());
    },
    false,
  ],
  ['half a JSON', (response) => respond(response, 200, '{"metadata":'), false],
];

describe('retries', () => {
  test.each(ways)('a read after %s', async (_, fail) => {
    const { maps, sent } = await serve(failFirst(2, fail));
    expect(await maps.get(key)).toEqual(object);
    expect(sent).toHaveLength(3);
  });

  test.each(ways)('a write after %s, only if the server asks for it', async (_, fail, isSafe) => {
    const { maps, sent } = await serve(failFirst(1, fail));
    if (isSafe) expect(await maps.update(object)).toEqual(object);
    else expect((await failureOf(maps.update(object))).name).toBe('ApiError');
    expect(sent).toHaveLength(isSafe ? 2 : 1);
  });

  test('a write that never reached the server', async () => {
    const gone = await FakeApiServer.start(() => {});
    await gone.close();
    const { server } = await serve(() => {});
    const cluster = await server.connect({ cluster: { server: gone.url } });
    const created = cluster.resource(configMaps).create(object);
    // Long enough for the first attempt to fail.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const back = createServer((_, response) => respond(response, 201, object));
    await new Promise<void>((resolve) => back.listen(Number(new URL(gone.url).port), '127.0.0.1', resolve));
    expect(await created).toEqual(object);
    await cluster.close();
    await new Promise((resolve) => back.close(resolve));
  });

  test('end after some attempts', async () => {
    const { maps, sent } = await serve((_, response) => respond(response, 500, 'broken'));
    expect((await failureOf(maps.get(key))).code).toBe(500);
    expect(sent).toHaveLength(5);
  });

  test('do not delay an eviction that a budget refuses', async () => {
    const { cluster, sent } = await serve((_, response) =>
      respond(response, 429, statusBody(429, 'TooManyRequests'), { 'retry-after': '10' }),
    );
    const error = await failureOf(cluster.resource(pods).post(key, 'eviction', { kind: 'Eviction' }));
    expect(isReason(error, 'TooManyRequests')).toBe(true);
    expect(error.retryAfterSeconds).toBe(10);
    expect(sent).toHaveLength(1);
  });
});

test('connections are kept and shared', async () => {
  const { maps, sent } = await serve((_, response) => respond(response, 200, object));
  for (let i = 0; i < 20; i += 1) await maps.get(key);
  // A request may start before its predecessor's connection counts as free again.
  expect(new Set(sent.map(({ socket }) => socket)).size).toBeLessThan(4);
});

test('a closed cluster reports no retries that it no longer sends', async () => {
  const { server } = await serve(() => {});
  const reported: string[] = [];
  let closed: Promise<void> | undefined;
  const onRequest: KubernetesConnectOptions['onRequest'] = ({ outcome }) => {
    reported.push(String(outcome));
    closed = cluster.close();
  };
  const cluster = await server.connect({ cluster: { server: 'http://127.0.0.1:1' } }, { onRequest });
  await failureOf(cluster.resource(configMaps).get(key));
  await closed;
  expect(reported).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

test('a closed cluster accepts no more calls', async () => {
  const { cluster, maps } = await serve((_, response) => respond(response, 200, object));
  await maps.get(key);
  await cluster.close();
  await expect(maps.get(key)).rejects.toThrow('the connection to the cluster is closed');
});
