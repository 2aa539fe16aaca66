import { afterEach, describe, expect, test } from 'vitest';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import {
  dropBookmarks,
  endWatchesAfter,
  failNext,
  failWith,
  verbsOf,
} from '../../cluster/testing/fault-hooks.ts';
import type { ClusterCall, InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import { badRequest, failure, internalError } from '../../kube/api-error.ts';
import { configMaps, secrets } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

/** Writes down what it is told. */
class Notes {
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

/** Little enough for a test to run out of it. */
const changesMax = 16;

interface Beginning extends Partial<ReflectorOptions<ConfigMap>> {
  /** ConfigMaps that are there before it starts. */
  readonly names?: readonly string[];
  /** What goes wrong from the start. */
  readonly prepare?: (intercepted: InterceptedCluster) => void;
}

/** Runs until the test is over; then nothing may be left behind. */
async function begin({ names = [], prepare, ...options }: Beginning = {}) {
  const clock = new VirtualClock();
  const { cluster, intercepted, calls } = await EmbeddedFixture.start(clock, { history: { changesMax } });
  const maps = cluster.resource(configMaps);
  const create = (name: string) => maps.create({ metadata: { namespace: 'default', name } });
  for (const name of names) await create(name);
  prepare?.(intercepted);
  const notes = new Notes();
  const errors: unknown[] = [];
  const controller = new AbortController();
  const reflector = new Reflector<ConfigMap>({
    client: intercepted.resource(configMaps),
    sink: notes,
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
  /** So much happens elsewhere that the server forgets everything else. Answers the version after it. */
  const outlastHistory = async (): Promise<string> => {
    for (let i = 0; i <= changesMax; i += 1)
      await cluster.resource(secrets).create({ metadata: { namespace: 'default', generateName: 'noise-' } });
    return (await maps.list()).metadata.resourceVersion;
  };
  return { intercepted, calls, maps, create, outlastHistory, clock, notes, errors, reflector };
}

function listsOf(calls: readonly ClusterCall[]): number {
  return calls.filter(({ verb }) => verb === 'list').length;
}

describe('a reflector', () => {
  test('lists page by page, then follows', async () => {
    const { calls, maps, create, clock, notes } = await begin({ names: ['a', 'b', 'c'], pageSize: 2 });
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', '+a', '+b', '+c', 'end']);
    expect(verbsOf(calls)).toEqual(['list', 'list', 'watch']);
    await create('d');
    await maps.patch({ namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { key: 'new' } } });
    await maps.delete({ namespace: 'default', name: 'b' });
    await clock.advance(0);
    expect(notes.take()).toEqual(['+d', '+a', '-b']);
  });

  test('resumes after the last version it saw when a watch ends in good order', async () => {
    const { intercepted, calls, create, clock, notes } = await begin();
    await clock.advance(5_000);
    await create('a');
    await clock.advance(0);
    intercepted.endWatches();
    await create('b');
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', 'end', '+a', '+b']);
    expect(verbsOf(calls)).toEqual(['list', 'watch', 'watch']);
  });

  test('misses nothing and hears nothing twice though every watch is cut after an event', async () => {
    const { create, clock, calls, notes } = await begin({
      prepare: (intercepted) => {
        intercepted.addHooks(endWatchesAfter(1));
      },
    });
    await clock.advance(0);
    const names = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const name of names) await create(name);
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', 'end', ...names.map((name) => `+${name}`)]);
    expect(verbsOf(calls)).toEqual(['list', ...names.map(() => 'watch'), 'watch']);
  });

  test('resumes from a bookmark, though history before it is gone', async () => {
    const { intercepted, calls, create, outlastHistory, clock, reflector, notes } = await begin();
    await clock.advance(5_000);
    const bookmark = await outlastHistory();
    intercepted.endWatches({ bookmark });
    await clock.advance(0);
    expect(reflector.status().resourceVersion).toBe(bookmark);
    await create('a');
    await clock.advance(60_000);
    expect(notes.take()).toEqual(['begin', 'end', '+a']);
    expect(listsOf(calls)).toBe(1);
  });

  test.each([
    ['a reset connection', failure(503, 'ServiceUnavailable', 'socket hang up')],
    ['too many requests', failure(429, 'TooManyRequests', 'later', { retryAfterSeconds: 2 })],
    ['an internal error', internalError('etcdserver: leader changed')],
    ['something that is no ApiError', new TypeError('terminated')],
  ])('resumes, and does not list again, after %s', async (_, error) => {
    const { intercepted, calls, create, clock, notes, errors } = await begin();
    await clock.advance(5_000);
    intercepted.endWatches({ error });
    await create('a');
    await clock.advance(30_000);
    expect(notes.take()).toEqual(['begin', 'end', '+a']);
    expect(errors).toEqual([error]);
    expect(verbsOf(calls)).toEqual(['list', 'watch', 'watch']);
  });

  test('lists again at once when its version has expired', async () => {
    const { intercepted, create, outlastHistory, clock, notes, errors } = await begin();
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
    expect(notes.take()).toEqual(['begin', 'end', 'begin', '+a', 'end']);
    expect(errors).toMatchObject([{ reason: 'Expired' }]);
  });

  test('does not hammer a server on which its version has always expired', async () => {
    const { intercepted, calls, outlastHistory, clock, errors } = await begin();
    intercepted.addHooks({ before: ({ verb }) => (verb === 'watch' ? outlastHistory() : undefined) });
    await clock.advance(10 * 60_000);
    expect(errors.every((error) => String(error).includes('too old resource version'))).toBe(true);
    expect(calls.length).toBeLessThan(80);
    expect(calls.length).toBeGreaterThan(20);
  });

  test('does not hammer a server that ends every watch at once', async () => {
    const { calls, clock } = await begin({
      prepare: (intercepted) => {
        intercepted.addHooks(endWatchesAfter(0));
      },
    });
    await clock.advance(10 * 60_000);
    expect(calls.length).toBeLessThan(80);
    expect(calls.length).toBeGreaterThan(10);
  });

  test('survives a server that is away for an hour, and lists when it is back', async () => {
    let comeBack = () => {};
    const { clock, notes, reflector } = await begin({
      names: ['a'],
      prepare: (intercepted) => {
        const away = failure(503, 'ServiceUnavailable', 'connect ECONNREFUSED');
        comeBack = intercepted.addHooks({ before: failWith(away) });
      },
    });
    await clock.advance(3_600_000);
    expect(notes.take()).not.toContain('end');
    expect(reflector.status().errors).toBeGreaterThan(100);
    expect(reflector.status().errors).toBeLessThan(300);
    comeBack();
    await clock.advance(30_000);
    expect(notes.take()).toEqual(['begin', '+a', 'end']);
  });

  test('asks for larger pages when a snapshot expires before its last page', async () => {
    const names = [...Array(8).keys()].map((index) => `m${index}`);
    const limits: unknown[] = [];
    const { intercepted, outlastHistory, clock, notes, errors } = await begin({
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
    expect(notes.take()).toEqual(['begin', '+m0', '+m1', 'begin', ...names.map((name) => `+${name}`), 'end']);
  });

  test('lists again when a watch keeps failing for reasons that put its knowledge in doubt', async () => {
    const { intercepted, calls, clock } = await begin();
    await clock.advance(0);
    intercepted.addHooks(failNext('watch', ...Array.from({ length: 5 }, () => internalError('bad'))));
    intercepted.endWatches({ error: internalError('bad') });
    await clock.advance(5 * 60_000);
    expect(listsOf(calls)).toBe(2);
  });

  test('takes the initial objects from the watch where it may', async () => {
    const { calls, create, clock, notes } = await begin({ names: ['a'], streamInitial: true });
    await clock.advance(0);
    await create('b');
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', '+a', 'end', '+b']);
    expect(verbsOf(calls)).toEqual(['watch']);
  });

  test('does not take initial objects for complete before that is said, and begins anew instead', async () => {
    let deliverBookmarks = () => {};
    const { intercepted, clock, notes, reflector } = await begin({
      names: ['a'],
      streamInitial: true,
      prepare: (intercepted) => {
        deliverBookmarks = intercepted.addHooks(dropBookmarks());
      },
    });
    await clock.advance(5_000);
    expect(notes.take()).toEqual(['begin', '+a']);
    expect(reflector.status().resourceVersion).toBeUndefined();
    deliverBookmarks();
    intercepted.endWatches();
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', '+a', 'end']);
  });

  test('lists where the server cannot stream the initial objects', async () => {
    const { clock, notes } = await begin({
      names: ['a'],
      streamInitial: true,
      prepare: (intercepted) =>
        intercepted.addHooks(failNext('watch', badRequest('sendInitialEvents is not known here'))),
    });
    await clock.advance(60_000);
    expect(notes.take()).toEqual(['begin', 'begin', '+a', 'end']);
  });
});
