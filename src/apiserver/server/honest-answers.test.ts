import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServedCluster, serveCluster } from './testing/served-cluster.ts';

let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
});

afterAll(async () => {
  await cluster.close();
  expect(cluster.errors).toEqual([]);
});

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'a', image: 'a' }], restartPolicy: 'Never' },
};

function job(name: string) {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template } };
}

describe('a kind that no controller acts on', () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const warning = '299 - "batch/v1 Job: no controller of this server acts on it; it is stored only"';

  test('is stored with a warning at every write', async () => {
    const created = await cluster.call('POST', jobs, { body: job('a') });
    expect([created.status, created.headers.warning]).toEqual([201, warning]);
    const updated = await cluster.call('PUT', `${jobs}/a`, { body: created.json() });
    expect([updated.status, updated.headers.warning]).toEqual([200, warning]);
    const patched = await cluster.call('PATCH', `${jobs}/a`, {
      body: { metadata: { labels: { a: 'b' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect([patched.status, patched.headers.warning]).toEqual([200, warning]);
    const applied = await cluster.call('PATCH', `${jobs}/b?fieldManager=test`, {
      body: job('b'),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect([applied.status, applied.headers.warning]).toEqual([201, warning]);
  });

  test('is read and deleted without a warning, and so is a refused write', async () => {
    await cluster.call('POST', jobs, { body: job('read') });
    expect((await cluster.call('GET', `${jobs}/read`)).headers.warning).toBeUndefined();
    const again = await cluster.call('POST', jobs, { body: job('read') });
    expect([again.status, again.headers.warning]).toEqual([409, undefined]);
    const propagation = '?propagationPolicy=Background';
    const deleted = await cluster.call('DELETE', `${jobs}/read${propagation}`);
    expect([deleted.status, deleted.headers.warning]).toEqual([200, undefined]);
  });

  test('other kinds have no such warning', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'quiet' } };
    const created = await cluster.call('POST', '/api/v1/namespaces/default/configmaps', { body });
    expect([created.status, created.headers.warning]).toEqual([201, undefined]);
  });
});

describe('a simulated pod', () => {
  const pods = '/api/v1/namespaces/default/pods';

  beforeAll(async () => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: template.spec };
    expect((await cluster.call('POST', pods, { body })).status).toBe(201);
  });

  test.each([
    ['GET', 'log', 'there are no containers to read logs from'],
    ['GET', 'log?container=a', 'there are no containers to read logs from'],
    ['POST', 'exec?command=ls', 'there are no containers to run commands in'],
    ['POST', 'attach', 'there are no containers to attach to'],
    ['POST', 'portforward', 'there are no containers to forward ports to'],
    ['GET', 'proxy/index.html', 'there are no containers to send requests to'],
    ['PATCH', 'ephemeralcontainers', 'there are no containers to debug'],
    ['PATCH', 'resize', 'there are no containers to resize'],
  ])('says so: %s %s', async (method, part, why) => {
    const reply = await cluster.call(method, `${pods}/a/${part}`);
    expect(reply.status).toBe(501);
    expect(reply.json()).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      message: `pods of this cluster are simulated: ${why}`,
    });
  });

  const metrics = '/apis/metrics.k8s.io/v1beta1';

  test.each([
    ['pods', 'pods of this cluster are simulated: there are no containers to measure'],
    ['namespaces/default/pods', 'pods of this cluster are simulated: there are no containers to measure'],
    ['namespaces/default/pods/a', 'pods of this cluster are simulated: there are no containers to measure'],
    ['nodes', 'nodes of this cluster are simulated: there is no kubelet that measures'],
  ])('has no metrics: %s', async (path, message) => {
    const reply = await cluster.call('GET', `${metrics}/${path}`);
    expect([reply.status, reply.json().message]).toEqual([501, message]);
  });

  test('has metrics of nothing else, and discovery calls them neither listable nor deletable', async () => {
    const statuses = await Promise.all(
      ['services', 'namespaces/default/pods/missing', 'nodes/missing', 'nodes/a/b'].map(
        async (path) => (await cluster.call('GET', `${metrics}/${path}`)).status,
      ),
    );
    expect(statuses).toEqual([404, 404, 404, 404]);
    expect((await cluster.call('GET', metrics)).json()).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'metrics.k8s.io/v1beta1',
      resources: [
        { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get'] },
        { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get'] },
      ],
    });
    expect((await cluster.call('GET', `${metrics}/pods`, { token: undefined })).status).toBe(401);
  });

  test('that does not exist is not found', async () => {
    const reply = await cluster.call('GET', `${pods}/missing/log`);
    expect([reply.status, reply.json().message]).toEqual([404, 'pods "missing" not found']);
  });

  test('is not read without a token', async () => {
    expect((await cluster.call('GET', `${pods}/a/log`, { token: undefined })).status).toBe(401);
  });
});

describe('older names of fields', () => {
  const classes = '/apis/storage.k8s.io/v1/storageclasses';
  const notice = '299 - "bindingMode: read as volumeBindingMode, its name today; rename it"';

  function storageClass(metadata: object) {
    return {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata,
      provisioner: 'a/b',
      bindingMode: 'WaitForFirstConsumer',
    };
  }

  test.each(['Strict', 'Warn', 'Ignore'])('are accepted with a warning, with validation %s', async (how) => {
    const name = `class-${how.toLowerCase()}`;
    const body = storageClass({ Name: name });
    const created = await cluster.call('POST', `${classes}?fieldValidation=${how}`, { body });
    expect(created.status).toBe(201);
    expect(created.headers.warning).toBe(
      `299 - "metadata.Name: read as metadata.name, its name today; rename it", ${notice}`,
    );
    expect(created.json()).toMatchObject({
      metadata: { name },
      volumeBindingMode: 'WaitForFirstConsumer',
    });
  });

  test('are accepted in an apply', async () => {
    const applied = await cluster.call('PATCH', `${classes}/applied?fieldManager=test`, {
      body: storageClass({ name: 'applied' }),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect([applied.status, applied.headers.warning]).toEqual([201, notice]);
    expect(applied.json()).toMatchObject({ volumeBindingMode: 'WaitForFirstConsumer' });
  });

  test('mean nothing in other kinds', async () => {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'other' },
      bindingMode: 'Immediate',
    };
    const path = '/api/v1/namespaces/default/configmaps?fieldValidation=Strict';
    expect((await cluster.call('POST', path, { body })).status).toBe(400);
  });
});
