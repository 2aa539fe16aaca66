import { expect, test } from 'vitest';
import { isReason } from '../api-error.ts';
import type { Registry, RegistryEvent, WatchListener } from './registry/api.ts';
import { RegistryWorld } from './registry/testing/registry-world.ts';
import { RegistryWatch } from './registry-watch.ts';

async function watched() {
  const world = await RegistryWorld.start();
  for (const name of ['a', 'b', 'c']) await world.create('configmaps', { metadata: { name } });
  return world;
}

test('who stops in the middle of what has arrived gets no more of it', async () => {
  const world = await watched();
  const abort = new AbortController();
  const seen: unknown[] = [];
  const watch = new RegistryWatch(world.registry, world.kind('configmaps'), { signal: abort.signal });
  for await (const event of watch) {
    seen.push(event);
    abort.abort();
  }
  expect(seen).toHaveLength(1);
});

test('who stops before it begins gets nothing', async () => {
  const world = await watched();
  const watch = new RegistryWatch(world.registry, world.kind('configmaps'), { signal: AbortSignal.abort() });
  for await (const event of watch) expect(event).toBeUndefined();
});

test('who stops while nothing happens ends', async () => {
  const world = await watched();
  const abort = new AbortController();
  const { resourceVersion } = await world.list('configmaps');
  const options = { signal: abort.signal, resourceVersion };
  const watch = new RegistryWatch(world.registry, world.kind('configmaps'), options)[Symbol.asyncIterator]();
  const next = watch.next();
  setImmediate(() => abort.abort());
  expect(await next).toEqual({ done: true, value: undefined });
});

test('a reader that falls far behind has to begin anew, and what it has not read is let go of', async () => {
  const world = await watched();
  const bookmark: RegistryEvent = { type: 'BOOKMARK', resourceVersion: '5', isInitialEnd: false };
  const batch = new Array<RegistryEvent>(300_000).fill(bookmark);
  const flood = async (_kind: unknown, _query: unknown, listener: WatchListener) => {
    for (let round = 0; round < 4; round += 1) listener.events(batch);
    return { resourceVersion: '5', close() {} };
  };
  const registry = { kinds: world.registry.kinds, watch: flood } as unknown as Registry;
  const options = { signal: new AbortController().signal };
  const watch = new RegistryWatch(registry, world.kind('configmaps'), options)[Symbol.asyncIterator]();
  const error = await watch.next().catch((reason: unknown) => reason);
  expect(isReason(error, 'Expired')).toBe(true);
});
