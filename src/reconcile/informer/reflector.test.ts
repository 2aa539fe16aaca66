import { afterEach, describe, expect, test } from 'vitest';
import type { ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import {
  dropBookmarks,
  endWatchesAfter,
  failNext,
  failWith,
  verbsOf,
} from '../../cluster/testing/fault-hooks.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import { badRequest, failure, internalError } from '../../kube/api-error.ts';
import { configMaps, secrets } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

/** Records its calls. */
class RecordingSink {
  readonly lines: string[] = [];
  beginReplace = () => void this.lines.push('begin');
  endReplace = () => void this.lines.push('end');
  upsert = (object: ConfigMap) => void this.lines.push(`+${object.metadata?.name}`);
  remove = (object: ConfigMap) => void this.lines.push(`-${object.metadata?.name}`);

  take(): string[] {
    return this.lines.splice(0);
  }
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Small, so that a test can exceed it. */
const changesMax = 16;

interface Beginning extends Partial<ReflectorOptions<ConfigMap>> {
  /** ConfigMaps that exist before the reflector starts. */
  readonly names?: readonly string[];
  /** Injects faults from the start. */
  readonly prepare?: (intercepted: InterceptedCluster) => void;
}

/** Runs until the test ends; then nothing may be pending. */
async function begin({ names = [], prepare, ...options }: Beginning = {}) {
  const clock = new VirtualClock();
  const { cluster, intercepted, calls } = await EmbeddedFixture.start(clock, { history: { changesMax } });
  const maps = cluster.resource(configMaps);
  const create = (name: string) => maps.create({ metadata: { namespace: 'default', name } });
  for (const name of names) await create(name);
  prepare?.(intercepted);
  const sink = new RecordingSink();
  const errors: unknown[] = [];
  const controller = new AbortController();
  const reflector = new Reflector<ConfigMap>({
    client: intercepted.resource(configMaps),
    sink,
    clock,
    random: seededRandom('reflector'),
    onError: (error) => errors.push(error),
    ...options,
  });
  const running = reflector.run(controller.signal);
  ends.push(async () => {
    controller.abort();
    await running;
    expect(clock.pending).toBe(0);
  });
  /** Makes so many changes elsewhere that the server drops all earlier history. Returns the version after that. */
  const outlastHistory = async (): Promise<string> => {
    for (let i = 0; i <= changesMax; i += 1)
      await cluster.resource(secrets).create({ metadata: { namespace: 'default', generateName: 'noise-' } });
    return (await maps.list()).metadata.resourceVersion;
  };
  return { intercepted, calls, maps, create, outlastHistory, clock, sink, errors, reflector };
}

function listsOf(calls: readonly ClusterCall[]): number {
  return calls.filter(({ verb }) => verb === 'list').length;
}

describe('a reflector', () => {
  test('lists page by page, then watches', async () => {
    const { calls, maps, create, clock, sink } = await begin({ names: ['a', 'b', 'c'], pageSize: 2 });
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', '+a', '+b', '+c', 'end']);
    expect(verbsOf(calls)).toEqual(['list', 'list', 'watch']);
    await create('d');
    await maps.patch({ namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { key: 'new' } } });
    await maps.delete({ namespace: 'default', name: 'b' });
    await clock.advance(0);
    expect(sink.take()).toEqual(['+d', '+a', '-b']);
  });

  test('resumes after the last version it saw when a watch ends regularly', async () => {
    const { intercepted, calls, create, clock, sink } = await begin();
    await clock.advance(5_000);
    await create('a');
    await clock.advance(0);
    intercepted.endWatches();
    await create('b');
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', 'end', '+a', '+b']);
    expect(verbsOf(calls)).toEqual(['list', 'watch', 'watch']);
  });

  test('misses nothing and receives nothing twice even if every watch ends after one event', async () => {
    const { create, clock, calls, sink } = await begin({
      prepare: (intercepted) => {
        intercepted.addHooks(endWatchesAfter(1));
      },
    });
    await clock.advance(0);
    const names = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const name of names) await create(name);
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', 'end', ...names.map((name) => `+${name}`)]);
    expect(verbsOf(calls)).toEqual(['list', ...names.map(() => 'watch'), 'watch']);
  });

  test('resumes from a bookmark even if the history before it is gone', async () => {
    const { intercepted, calls, create, outlastHistory, clock, reflector, sink } = await begin();
    await clock.advance(5_000);
    const bookmark = await outlastHistory();
    intercepted.endWatches({ bookmark });
    await clock.advance(0);
    expect(reflector.status().resourceVersion).toBe(bookmark);
    await create('a');
    await clock.advance(60_000);
    expect(sink.take()).toEqual(['begin', 'end', '+a']);
    expect(listsOf(calls)).toBe(1);
  });

  test.each([
    ['a reset connection', failure(503, 'ServiceUnavailable', 'socket hang up')],
    ['too many requests', failure(429, 'TooManyRequests', 'later', { retryAfterSeconds: 2 })],
    ['an internal error', internalError('etcdserver: leader changed')],
    ['an error that is not an ApiError', new TypeError('terminated')],
  ])('resumes, and does not list again, after %s', async (_, error) => {
    const { intercepted, calls, create, clock, sink, errors } = await begin();
    await clock.advance(5_000);
    intercepted.endWatches({ error });
    await create('a');
    await clock.advance(30_000);
    expect(sink.take()).toEqual(['begin', 'end', '+a']);
    expect(errors).toEqual([error]);
    expect(verbsOf(calls)).toEqual(['list', 'watch', 'watch']);
  });

  test('lists again at once when its version has expired', async () => {
    const { intercepted, create, outlastHistory, clock, sink, errors } = await begin();
    await clock.advance(5_000);
    const stop = intercepted.addHooks({
      before: async () => {
        stop();
        await create('a');
        await outlastHistory();
      },
    });
    intercepted.endWatches();
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', 'end', 'begin', '+a', 'end']);
    expect(errors).toMatchObject([{ reason: 'Expired' }]);
  });

  test('limits its requests to a server on which its version has always expired', async () => {
    const { intercepted, calls, outlastHistory, clock, errors } = await begin();
    intercepted.addHooks({ before: ({ verb }) => (verb === 'watch' ? outlastHistory() : undefined) });
    await clock.advance(10 * 60_000);
    expect(errors.every((error) => String(error).includes('too old resource version'))).toBe(true);
    expect(calls.length).toBeLessThan(80);
    expect(calls.length).toBeGreaterThan(20);
  });

  test('limits its requests to a server that ends every watch at once', async () => {
    const { calls, clock } = await begin({
      prepare: (intercepted) => {
        intercepted.addHooks(endWatchesAfter(0));
      },
    });
    await clock.advance(10 * 60_000);
    expect(calls.length).toBeLessThan(80);
    expect(calls.length).toBeGreaterThan(10);
  });

  test('survives a server that is unavailable for an hour, and lists when it is back', async () => {
    let recover = () => {};
    const { clock, sink, reflector } = await begin({
      names: ['a'],
      prepare: (intercepted) => {
        const away = failure(503, 'ServiceUnavailable', 'connect ECONNREFUSED');
        recover = intercepted.addHooks({ before: failWith(away) });
      },
    });
    await clock.advance(3_600_000);
    expect(sink.take()).not.toContain('end');
    expect(reflector.status().errors).toBeGreaterThan(100);
    expect(reflector.status().errors).toBeLessThan(300);
    recover();
    await clock.advance(30_000);
    expect(sink.take()).toEqual(['begin', '+a', 'end']);
  });

  test('asks for larger pages when a snapshot expires before its last page', async () => {
    const names = [...Array(8).keys()].map((index) => `m${index}`);
    const limits: unknown[] = [];
    const { intercepted, outlastHistory, clock, sink, errors } = await begin({
      names,
      pageSize: 2,
      prepare: (intercepted) => {
        intercepted.addHooks({
          before: ({ verb, options }) => verb === 'list' && limits.push(options.limit),
        });
      },
    });
    intercepted.addHooks({
      before: ({ options }) => (options.continue === undefined ? undefined : outlastHistory()),
    });
    await clock.advance(60_000);
    expect(limits).toEqual([2, 2, 8]);
    expect(errors).toMatchObject([{ reason: 'Expired' }]);
    expect(sink.take()).toEqual(['begin', '+m0', '+m1', 'begin', ...names.map((name) => `+${name}`), 'end']);
  });

  test('lists again when a watch keeps failing for reasons that may make the cache wrong', async () => {
    const { intercepted, calls, clock } = await begin();
    await clock.advance(0);
    intercepted.addHooks(failNext('watch', ...Array.from({ length: 5 }, () => internalError('bad'))));
    intercepted.endWatches({ error: internalError('bad') });
    await clock.advance(5 * 60_000);
    expect(listsOf(calls)).toBe(2);
  });

  test('takes the initial objects from the watch if the options allow it', async () => {
    const { calls, create, clock, sink } = await begin({ names: ['a'], streamInitial: true });
    await clock.advance(0);
    await create('b');
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', '+a', 'end', '+b']);
    expect(verbsOf(calls)).toEqual(['watch']);
  });

  test('does not treat initial objects as complete before the bookmark, and starts again instead', async () => {
    let deliverBookmarks = () => {};
    const { intercepted, clock, sink, reflector } = await begin({
      names: ['a'],
      streamInitial: true,
      prepare: (intercepted) => {
        deliverBookmarks = intercepted.addHooks(dropBookmarks());
      },
    });
    await clock.advance(5_000);
    expect(sink.take()).toEqual(['begin', '+a']);
    expect(reflector.status().resourceVersion).toBeUndefined();
    deliverBookmarks();
    intercepted.endWatches();
    await clock.advance(0);
    expect(sink.take()).toEqual(['begin', '+a', 'end']);
  });

  test('lists if the server cannot stream the initial objects', async () => {
    const { clock, sink } = await begin({
      names: ['a'],
      streamInitial: true,
      prepare: (intercepted) =>
        intercepted.addHooks(failNext('watch', badRequest('sendInitialEvents is not known here'))),
    });
    await clock.advance(60_000);
    expect(sink.take()).toEqual(['begin', 'begin', '+a', 'end']);
  });
});
