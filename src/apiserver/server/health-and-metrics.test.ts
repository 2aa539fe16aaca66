import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newMetrics, publishedMetrics } from './metrics.ts';
import { type ServedCluster, serveCluster } from './testing/served-cluster.ts';

describe('a server with ready checks and more metrics', () => {
  let cluster: ServedCluster;
  let isReady = false;

  beforeAll(async () => {
    cluster = await serveCluster({
      readyChecks: { controllers: () => (isReady ? undefined : 'no caches yet') },
      moreMetrics: () => '# TYPE others gauge\nothers 7\n',
    });
  });
  afterAll(() => cluster.close());

  test('is alive before it is ready', async () => {
    const statuses = async () => {
      const replies = ['/healthz', '/livez', '/readyz'].map((path) => cluster.call('GET', path));
      return (await Promise.all(replies)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 500]);
    isReady = true;
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  test('shows its own metrics and the additional ones', async () => {
    const { status, headers, text } = await cluster.call('GET', '/metrics');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toMatch(/\nstowage_apiserver_responses_total\{code="200"\} [1-9]/);
    expect(text).toMatch(/\nothers 7\n$/);
    expect((await cluster.call('POST', '/metrics', { body: {} })).status).toBe(405);
  });

  test('requires a token for /metrics', async () => {
    expect((await cluster.call('GET', '/metrics', { token: undefined })).status).toBe(401);
  });
});

test('every counter of the server has a public name', () => {
  const counters = { ...newMetrics(), requests: 3, watchesOpen: 2, responses: { 200: 1, 404: 2 } };
  const page = publishedMetrics(counters).render();
  for (const line of [
    'stowage_apiserver_requests_total 3',
    'stowage_apiserver_watches 2',
    'stowage_apiserver_responses_total{code="404"} 2',
    'stowage_apiserver_internal_errors_total 0',
  ])
    expect(page).toContain(`\n${line}\n`);
});
