import { describe, expect, test } from 'vitest';
import type { Durability } from '../store/durability.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { StoreError, type StoreErrorCode } from '../store/store-error.ts';
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

describe('a write that the disk does not take', () => {
  const body = { metadata: { name: 'a' }, provisioner: 'a/b' };
  const fullDisk = {
    code: 507,
    reason: 'InternalError',
    message:
      'the disk of the server is full, so the change was not stored; free space on the disk of its data directory, then repeat the request',
    details: { causes: [{ reason: 'DiskFull', message: 'no space left on device' }] },
  };
  const brokenDisk = {
    code: 500,
    reason: 'InternalError',
    message: expect.stringContaining('the server could not write to its data directory'),
  };

  test.each<[StoreErrorCode, object]>([
    ['DiskFull', fullDisk],
    ['WriteFailed', brokenDisk],
  ])('is reported as such and not stored: %s', async (code, status) => {
    const disk = new FailingDurability();
    const cluster = await serveCluster({ store: new MemoryStore({ durability: disk }) });
    const failure = new StoreError(code, 'writing to the data directory /secret/data failed');
    disk.failure = failure;
    const reply = await cluster.call('POST', classes, { body });
    expect(reply.json()).toMatchObject({ kind: 'Status', status: 'Failure', ...status });
    expect(reply.status).toBe(reply.json().code);
    expect(reply.text).not.toContain('/secret/data');
    expect(cluster.errors).toEqual([failure]);
    expect(cluster.server.metrics.internalErrors).toBe(0);
    expect((await cluster.call('GET', `${classes}/a`)).status).toBe(404);
    await cluster.close();
  });

  test('succeeds when it is repeated after space was freed', async () => {
    const disk = new FailingDurability();
    const cluster = await serveCluster({ store: new MemoryStore({ durability: disk }) });
    await cluster.call('POST', classes, { body });
    disk.failure = new StoreError('DiskFull', 'the disk is full');
    expect((await cluster.call('DELETE', `${classes}/a`)).status).toBe(507);
    expect((await cluster.call('GET', `${classes}/a`)).status).toBe(200);
    disk.failure = undefined;
    expect((await cluster.call('DELETE', `${classes}/a`)).status).toBe(200);
    expect((await cluster.call('GET', `${classes}/a`)).status).toBe(404);
    await cluster.close();
  });
});

/** Rejects all batches while `failure` is set. */
class FailingDurability implements Durability {
  failure: StoreError | undefined;

  persist(): Promise<void> {
    return this.failure === undefined ? Promise.resolve() : Promise.reject(this.failure);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
