import { expect, test } from 'vitest';
import { isReason } from '../../kube/api-error.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import { transientSnapshot } from './context/snapshot-cache.ts';
import type { Registry, RegistryEvent, WatchListener } from './registry.ts';
import { RegistryWatch } from './registry-watch.ts';
import { RegistryFixture } from './testing/registry-fixture.ts';

async function watched() {
  const fixture = await RegistryFixture.start();
  for (const name of ['a', 'b', 'c']) await fixture.create('configmaps', { metadata: { name } });
  return fixture;
}

test('aborting within a batch drops the rest of the batch', async () => {
  const fixture = await watched();
  const abort = new AbortController();
  const seen: unknown[] = [];
  const watch = new RegistryWatch(fixture.registry, fixture.kind('configmaps'), { signal: abort.signal });
  for await (const event of watch) {
    seen.push(event);
    abort.abort();
  }
  expect(seen).toHaveLength(1);
});

test('an aborted signal delivers nothing', async () => {
  const fixture = await watched();
  const watch = new RegistryWatch(fixture.registry, fixture.kind('configmaps'), {
    signal: AbortSignal.abort(),
  });
  for await (const event of watch) expect(event).toBeUndefined();
});

test('aborting ends a waiting iteration', async () => {
  const fixture = await watched();
  const abort = new AbortController();
  const { resourceVersion } = await fixture.list('configmaps');
  const options = { signal: abort.signal, resourceVersion };
  const watch = new RegistryWatch(fixture.registry, fixture.kind('configmaps'), options)[
    Symbol.asyncIterator
  ]();
  const next = watch.next();
  setImmediate(() => abort.abort());
  expect(await next).toEqual({ done: true, value: undefined });
});

test('a failing watch delivers earlier events, then asks to start over with a list', async () => {
  const fixture = await watched();
  const broken = (object: StoredObject) => {
    if (object.metadata.name === 'e') throw new Error('no such field');
    return 'x';
  };
  const kind = { ...fixture.kind('configmaps'), selectableFields: { broken } };
  const { resourceVersion } = await fixture.list('configmaps');
  const signal = new AbortController().signal;
  const options = { signal, resourceVersion, fieldSelector: 'broken=x' };
  const watch = new RegistryWatch(fixture.registry, kind, options)[Symbol.asyncIterator]();
  const first = watch.next();
  await fixture.create('configmaps', { metadata: { name: 'd' } });
  expect(await first).toMatchObject({ value: { type: 'ADDED', object: { metadata: { name: 'd' } } } });
  const second = watch.next().catch((reason: unknown) => reason);
  await fixture.create('configmaps', { metadata: { name: 'e' } });
  const error = await second;
  expect(isReason(error, 'Expired')).toBe(true);
  expect(error).toMatchObject({ cause: new Error('no such field') });
});

test('a reader that falls far behind must start over, and its queued events are freed', async () => {
  const fixture = await watched();
  const bookmark: RegistryEvent = { type: 'BOOKMARK', resourceVersion: '5', isInitialEnd: false };
  const batch = new Array<RegistryEvent>(300_000).fill(bookmark);
  const flood = async (_kind: unknown, _query: unknown, listener: WatchListener) => {
    for (let round = 0; round < 4; round += 1) listener.events(batch);
    return { resourceVersion: '5', close() {} };
  };
  const registry = { kinds: fixture.registry.kinds, watch: flood } as unknown as Registry;
  const options = { signal: new AbortController().signal };
  const watch = new RegistryWatch(registry, fixture.kind('configmaps'), options)[Symbol.asyncIterator]();
  const error = await watch.next().catch((reason: unknown) => reason);
  expect(isReason(error, 'Expired')).toBe(true);
});

test('events that are queued for a slow reader are limited in bytes, and initial events are not', async () => {
  const fixture = await watched();
  const data = { text: 'x'.repeat(1_000_000) };
  const metadata = { name: 'large', resourceVersion: '5' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as unknown as StoredObject;
  const snapshot = transientSnapshot(object);
  // Far fewer than the limit of events.
  const batch = new Array<RegistryEvent>(70).fill({ type: 'ADDED', snapshot });
  const listeners: WatchListener[] = [];
  const large = async (_kind: unknown, _query: unknown, listener: WatchListener) => {
    listener.events(batch);
    listeners.push(listener);
    return { resourceVersion: '5', close() {} };
  };
  const registry = { kinds: fixture.registry.kinds, watch: large } as unknown as Registry;
  const options = { signal: new AbortController().signal };
  const watch = new RegistryWatch(registry, fixture.kind('configmaps'), options)[Symbol.asyncIterator]();
  for (let at = 0; at < batch.length; at += 1) expect(await watch.next()).toMatchObject({ done: false });
  const next = watch.next().catch((reason: unknown) => reason);
  for (const listener of listeners) listener.events(batch);
  expect(isReason(await next, 'Expired')).toBe(true);
});
