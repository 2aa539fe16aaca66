import { expect, test } from 'vitest';
import type { ConfigMap } from '../kube/api/core.ts';
import type { WatchEvent } from '../kube/api-requests.ts';
import { configMaps, secrets } from '../kube/resources.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { type ClusterHooks, InterceptedCluster } from './intercepted-cluster.ts';
import { EmbeddedFixture } from './testing/embedded-fixture.ts';
import {
  answerOnce,
  CrashAfterWrites,
  delayWatch,
  dropBookmarks,
  endWatchesAfter,
  failNext,
  failOnce,
  failWith,
  hang,
  isObjectWrite,
  onlyFor,
  verbsOf,
  WatchGate,
} from './testing/fault-hooks.ts';

const namespace = 'default';
const lost = new Error('connection reset');

async function start(...hooks: readonly ClusterHooks[]) {
  const clock = new VirtualClock();
  const { cluster } = await EmbeddedFixture.start(clock);
  const intercepted = new InterceptedCluster(cluster, ...hooks);
  const maps = intercepted.resource(configMaps);
  const create = (name: string) => maps.create({ metadata: { namespace, name } });
  const names = async () => {
    const { items } = await cluster.resource(configMaps).list({ namespace });
    return items.map(({ metadata }) => metadata?.name);
  };
  return { clock, cluster, intercepted, maps, create, names };
}

test('without hooks every call passes through', async () => {
  const { maps, create, names } = await start();
  await create('a');
  expect((await maps.get({ namespace, name: 'a' })).metadata?.name).toBe('a');
  await maps.delete({ namespace, name: 'a' });
  expect(await names()).toEqual([]);
});

test('a call that fails before never reaches the cluster; one that fails after has taken place', async () => {
  const { intercepted, create, names } = await start();
  const stop = intercepted.addHooks({ before: failWith(lost) });
  await expect(create('before')).rejects.toBe(lost);
  stop();
  intercepted.addHooks({ after: failWith(lost) });
  await expect(create('after')).rejects.toBe(lost);
  expect(await names()).toEqual(['after']);
});

test('hooks see verb, resource, name and options, and can send the call themselves', async () => {
  const seen: unknown[] = [];
  const { intercepted, maps, names } = await start({
    before: ({ verb, resource, name, options }) => seen.push([verb, resource.plural, name, options.dryRun]),
  });
  intercepted.addHooks({
    before: async ({ send }) => {
      await send();
      throw lost;
    },
  });
  await expect(maps.create({ metadata: { namespace, name: 'a' } }, { dryRun: false })).rejects.toBe(lost);
  expect(seen).toEqual([['create', 'configmaps', 'a', false]]);
  expect(await names()).toEqual(['a']);
});

test('errors of the cluster are observed and passed on', async () => {
  const errors: unknown[] = [];
  const { maps } = await start({ failed: (_, error) => errors.push(error) });
  const call = maps.get({ namespace, name: 'missing' });
  await expect(call).rejects.toMatchObject({ reason: 'NotFound' });
  expect(errors).toMatchObject([{ reason: 'NotFound' }]);
});

test('failNext, failOnce and answerOnce affect the calls they name, and no others', async () => {
  const { intercepted, maps, create, names } = await start(failNext('create', lost, lost));
  intercepted.addHooks(failOnce(({ verb }) => verb === 'delete', lost));
  intercepted.addHooks(answerOnce('get', configMaps, { metadata: { name: 'invented' } }));
  for (const name of ['a', 'b']) await expect(create(name)).rejects.toBe(lost);
  await create('c');
  expect((await maps.get({ namespace, name: 'x' })).metadata?.name).toBe('invented');
  await expect(maps.get({ namespace, name: 'x' })).rejects.toMatchObject({ reason: 'NotFound' });
  await expect(maps.delete({ namespace, name: 'c' })).rejects.toBe(lost);
  await maps.delete({ namespace, name: 'c' });
  expect(await names()).toEqual([]);
});

test('hooks can be limited to some calls', async () => {
  const isSecret = onlyFor(({ resource }) => resource.plural === 'secrets', { before: failWith(lost) });
  const { intercepted, create, names } = await start(isSecret);
  await create('a');
  const secret = intercepted.resource(secrets).create({ metadata: { namespace, name: 'a' } });
  await expect(secret).rejects.toBe(lost);
  expect(await names()).toEqual(['a']);
});

test('a hanging call ends with its signal', async () => {
  const { maps } = await start({ before: hang() });
  const abort = new AbortController();
  const call = maps.get({ namespace, name: 'a' }, { signal: abort.signal });
  abort.abort(lost);
  await expect(call).rejects.toBe(lost);
});

test('after a crash the last write has taken place, and no call gets an answer', async () => {
  const crash = new CrashAfterWrites(2);
  const { maps, create, names } = await start(crash);
  await create('a');
  expect(crash.hasCrashed).toBe(false);
  await expect(create('b')).rejects.toThrow('the connection to the cluster is lost');
  await crash.crashed;
  await expect(maps.get({ namespace, name: 'a' })).rejects.toThrow('the connection to the cluster is lost');
  expect([crash.written, await names()]).toEqual([2, ['a', 'b']]);
});

test('calls are recorded, including those that fail', async () => {
  const { intercepted, calls } = await EmbeddedFixture.start(new VirtualClock());
  intercepted.addHooks({ before: failWith(lost) });
  const maps = intercepted.resource(configMaps);
  await expect(maps.list()).rejects.toBe(lost);
  await expect(maps.create({ metadata: { namespace, name: 'a' } })).rejects.toBe(lost);
  expect(verbsOf(calls)).toEqual(['list', 'create']);
  expect(calls.map(isObjectWrite)).toEqual([false, true]);
});

/** Follows a watch until it ends; the lines so far, and its end. */
function follow(intercepted: InterceptedCluster, signal: AbortSignal = new AbortController().signal) {
  const lines: string[] = [];
  const lineOf = (event: WatchEvent<ConfigMap>) =>
    event.type === 'BOOKMARK' ? 'bookmark' : `${event.type} ${event.object.metadata?.name}`;
  const run = async () => {
    const watch = intercepted.resource(configMaps).watch({ namespace, sendInitialEvents: true, signal });
    for await (const event of watch) lines.push(lineOf(event));
  };
  return { lines, ended: run() };
}

test('a watch can be ended regularly, with a bookmark or with an error', async () => {
  const { clock, intercepted, create } = await start();
  await create('a');
  const watch = follow(intercepted);
  await clock.advance(0);
  intercepted.endWatches({ bookmark: '1' });
  await watch.ended;
  expect(watch.lines).toEqual(['ADDED a', 'bookmark', 'bookmark']);
  const failing = follow(intercepted);
  await clock.advance(0);
  intercepted.endWatches({ error: lost });
  await expect(failing.ended).rejects.toBe(lost);
});

test('watch events can be dropped, delayed, held back and counted', async () => {
  const gate = new WatchGate(configMaps);
  const { clock, intercepted, create } = await start(gate, dropBookmarks());
  const never = new AbortController().signal;
  intercepted.addHooks(delayWatch(() => clock.sleep(10, never)));
  await create('a');
  gate.hold();
  const abort = new AbortController();
  const watch = follow(intercepted, abort.signal);
  await clock.advance(1_000);
  expect(watch.lines).toEqual([]);
  gate.release();
  await clock.advance(1_000);
  expect(watch.lines).toEqual(['ADDED a']);
  abort.abort();
  await watch.ended;
});

test.each([
  [0, []],
  [1, ['ADDED a']],
])('watches end after %i events', async (eventsMax, lines) => {
  const { clock, intercepted, create } = await start(endWatchesAfter(eventsMax));
  for (const name of ['a', 'b']) await create(name);
  const watch = follow(intercepted);
  await clock.advance(0);
  await watch.ended;
  expect(watch.lines).toEqual(lines);
});
