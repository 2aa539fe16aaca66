import { expect, test } from 'vitest';
import { failure, notFound } from '../kube/api-error.ts';
import type { WatchEvent } from '../kube/api-requests.ts';
import { pods } from '../kube/resources.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Cluster, ResourceClient } from './cluster.ts';
import { MeteredCluster } from './metered-cluster.ts';

type Pods = ResourceClient<{ readonly metadata?: object }>;

/** A cluster with given answers; each call takes a quarter of a second. */
function metered(answers: Partial<Record<keyof Pods, () => unknown>>) {
  const metrics = new Metrics();
  let nowMs = 0;
  const inner = {
    resource: (resource: unknown) =>
      new Proxy(
        { resource },
        {
          get: (target, verb) =>
            verb === 'resource'
              ? target.resource
              : () => {
                  nowMs += 250;
                  return answers[verb as keyof Pods]?.();
                },
        },
      ),
  } as unknown as Cluster;
  const clock = { monotonicMs: () => nowMs };
  const client = new MeteredCluster({ cluster: inner, metrics, clock }).resource(pods);
  const counted = () =>
    metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith('stowage_api_requests_total{'))
      .map((line) => line.slice('stowage_api_requests_total'.length));
  return { client, counted, metrics };
}

const key = { namespace: 'a', name: 'b' };

test('calls are counted by verb, resource and code', async () => {
  const { client, counted } = metered({
    get: async () => ({}),
    patch: async () => ({}),
    post: async () => ({}),
    delete: async () => {
      throw notFound(pods, 'b');
    },
    update: async () => {
      throw new Error('a bug');
    },
    list: async () => {
      throw new DOMException('ended', 'AbortError');
    },
    create: async () => {
      throw failure(503, 'ServiceUnavailable', 'later');
    },
  });
  await client.get(key);
  await client.get(key);
  await client.patch(key, { type: 'merge', body: {} }, { subresource: 'status' });
  await client.post(key, 'binding', {});
  await expect(client.delete(key)).rejects.toThrow('pods "b" not found');
  await expect(client.update({})).rejects.toThrow('a bug');
  await expect(client.list()).rejects.toThrow('ended');
  await expect(client.create({})).rejects.toThrow('later');
  expect(counted()).toEqual([
    '{verb="create",resource="pods",code="503"} 1',
    '{verb="create",resource="pods/binding",code="201"} 1',
    '{verb="delete",resource="pods",code="404"} 1',
    '{verb="get",resource="pods",code="200"} 2',
    '{verb="list",resource="pods",code="aborted"} 1',
    '{verb="patch",resource="pods/status",code="200"} 1',
    '{verb="update",resource="pods",code="error"} 1',
  ]);
});

test('their duration is recorded, including failed ones', async () => {
  const { client, metrics } = metered({
    delete: async () => {
      throw notFound(pods, 'b');
    },
  });
  await expect(client.delete(key)).rejects.toThrow();
  const page = metrics.render();
  expect(page).toContain('stowage_api_request_seconds_bucket{verb="delete",le="0.1"} 0\n');
  expect(page).toContain('stowage_api_request_seconds_bucket{verb="delete",le="0.5"} 1\n');
  expect(page).toContain('stowage_api_request_seconds_sum{verb="delete"} 0.25\n');
});

const bookmark: WatchEvent<never> = { type: 'BOOKMARK', resourceVersion: '1', isInitialEnd: false };

test('a watch is counted once, passes everything on and can be left', async () => {
  let isLeft = false;
  async function* events() {
    try {
      for (;;) yield bookmark;
    } finally {
      isLeft = true;
    }
  }
  const { client, counted } = metered({ watch: () => events() });
  let seen = 0;
  for await (const event of client.watch({ signal: new AbortController().signal })) {
    expect(event).toEqual(bookmark);
    seen += 1;
    if (seen === 3) break;
  }
  expect(isLeft).toBe(true);
  expect(counted()).toEqual(['{verb="watch",resource="pods",code="200"} 1']);
});

test('a refused watch is counted with its code', async () => {
  // biome-ignore lint/correctness/useYield: it throws before
  async function* events(): AsyncGenerator<never> {
    throw failure(410, 'Expired', 'too old');
  }
  const { client, counted } = metered({ watch: () => events() });
  const watch = client.watch({ signal: new AbortController().signal })[Symbol.asyncIterator]();
  await expect(watch.next()).rejects.toThrow('too old');
  expect(counted()).toEqual(['{verb="watch",resource="pods",code="410"} 1']);
});
