import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../store/memory-store.ts';
import { serveCluster, servedKinds } from './testing/served-cluster.ts';
import { WatchClient } from './testing/watch-client.ts';

const classes = '/apis/storage.k8s.io/v1/storageclasses';
const tableForm = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

describe('an unexpected exception', () => {
  const brokenKinds = servedKinds.map((kind) => ({
    ...kind,
    row() {
      throw new Error('no such cell');
    },
  }));

  test('is a 500 for the client and is reported; the server keeps running', async () => {
    const cluster = await serveCluster({ kinds: brokenKinds });
    await cluster.call('POST', classes, { body: { metadata: { name: 'a' }, provisioner: 'a/b' } });
    const reply = await cluster.call('GET', classes, { headers: tableForm });
    expect(reply.status).toBe(500);
    expect(reply.json()).toMatchObject({ kind: 'Status', reason: 'InternalError', code: 500 });
    expect(reply.text).not.toContain('no such cell');
    expect(cluster.errors).toEqual([new Error('no such cell')]);
    expect(cluster.server.metrics.internalErrors).toBe(1);
    expect((await cluster.call('GET', classes)).status).toBe(200);
    await cluster.close();
  });

  test('in a watch is sent inside the stream', async () => {
    const cluster = await serveCluster({ kinds: brokenKinds });
    await cluster.call('POST', classes, { body: { metadata: { name: 'a' }, provisioner: 'a/b' } });
    const watch = await WatchClient.open(cluster, `${classes}?watch=1`, tableForm.accept);
    expect(await watch.ended()).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 500 } }]);
    expect(watch.isComplete).toBe(true);
    expect(cluster.errors).toHaveLength(1);
    await cluster.close();
  });
});

describe('an event that one of several watches cannot encode', () => {
  const broken = () => {
    throw new Error('no such field');
  };
  const kinds = servedKinds.map((kind) => ({ ...kind, selectableFields: { broken } }));

  test('ends that watch with an error; the write, the other watch and the server are not affected', async () => {
    const cluster = await serveCluster({ kinds });
    const failing = await WatchClient.open(cluster, `${classes}?watch=1&fieldSelector=broken%3Dx`);
    const other = await WatchClient.open(cluster, `${classes}?watch=1`);
    const body = { metadata: { name: 'a' }, provisioner: 'a/b' };
    expect((await cluster.call('POST', classes, { body })).status).toBe(201);
    expect(await failing.ended()).toMatchObject([
      { type: 'ERROR', object: { code: 500, reason: 'InternalError' } },
    ]);
    expect(await other.take(1)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }]);
    expect((await cluster.call('GET', classes)).status).toBe(200);
    expect(cluster.errors).toEqual([new Error('no such field')]);
    other.close();
    await cluster.close();
  });
});

describe('a version that is too old', () => {
  test('is reported inside the watch, which then ends', async () => {
    const cluster = await serveCluster({
      store: new MemoryStore({ history: { changesMax: 2, changesMin: 1 } }),
    });
    for (let index = 0; index < 10; index += 1) {
      await cluster.call('POST', classes, { body: { metadata: { name: `n${index}` }, provisioner: 'a/b' } });
    }
    const watch = await WatchClient.open(cluster, `${classes}?watch=1&resourceVersion=2`);
    expect(watch.status).toBe(200);
    expect(await watch.ended()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    expect(watch.isComplete).toBe(true);
    await cluster.close();
    expect(cluster.errors).toEqual([]);
  });
});
