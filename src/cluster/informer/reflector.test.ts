import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../kube/core.ts';
import { seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { badRequest, expired, failure, internalError } from '../api-error.ts';
import { configMaps } from '../resources.ts';
import { MemoryCluster, type Verb } from '../testing/memory-cluster.ts';
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

function map(name: string): ConfigMap {
  return { metadata: { namespace: 'default', name } };
}

/** Runs until the test is over; then nothing may be left behind. */
function begin(options: Partial<ReflectorOptions<ConfigMap>> = {}, cluster = new MemoryCluster<ConfigMap>()) {
  const clock = new VirtualClock();
  const notes = new Notes();
  const errors: unknown[] = [];
  const controller = new AbortController();
  const reflector = new Reflector<ConfigMap>({
    client: cluster.clientOf(configMaps),
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
  return { cluster, clock, notes, errors, reflector };
}

/** Makes the next calls of a verb fail, one error each. */
function failNext(cluster: MemoryCluster<ConfigMap>, verb: Verb, ...errors: readonly unknown[]): void {
  const left = [...errors];
  cluster.before = (called) => {
    if (called === verb && left.length > 0) throw left.shift();
  };
}

describe('a reflector', () => {
  test('lists page by page, then follows', async () => {
    const cluster = new MemoryCluster<ConfigMap>();
    for (const name of ['a', 'b', 'c']) cluster.put(map(name));
    const { clock, notes } = begin({ pageSize: 2 }, cluster);
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', '+a', '+b', '+c', 'end']);
    expect(cluster.calls).toEqual(['list', 'list', 'watch']);
    cluster.put(map('d'));
    cluster.put(map('a'));
    cluster.remove({ namespace: 'default', name: 'b' });
    await clock.advance(0);
    expect(notes.take()).toEqual(['+d', '+a', '-b']);
  });

  test('resumes after the last version it saw when a watch ends in good order', async () => {
    const { cluster, clock, notes } = begin();
    await clock.advance(5_000);
    cluster.put(map('a'));
    await clock.advance(0);
    cluster.cutWatches();
    cluster.put(map('b'));
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', 'end', '+a', '+b']);
    expect(cluster.calls).toEqual(['list', 'watch', 'watch']);
  });

  test('resumes from a bookmark, though history before it is gone', async () => {
    const { cluster, clock, reflector, notes } = begin();
    await clock.advance(0);
    cluster.bookmark();
    await clock.advance(5_000);
    expect(reflector.status().resourceVersion).toBe(cluster.version);
    cluster.compact();
    cluster.cutWatches();
    cluster.put(map('a'));
    await clock.advance(60_000);
    expect(notes.take()).toEqual(['begin', 'end', '+a']);
    expect(cluster.calls.filter((call) => call === 'list')).toHaveLength(1);
  });

  test.each([
    ['a reset connection', failure(503, 'ServiceUnavailable', 'socket hang up')],
    ['too many requests', failure(429, 'TooManyRequests', 'later', { retryAfterSeconds: 2 })],
    ['an internal error', internalError('etcdserver: leader changed')],
    ['something that is no ApiError', new TypeError('terminated')],
  ])('resumes, and does not list again, after %s', async (_, error) => {
    const { cluster, clock, notes, errors } = begin();
    await clock.advance(5_000);
    cluster.cutWatches(error);
    cluster.put(map('a'));
    await clock.advance(30_000);
    expect(notes.take()).toEqual(['begin', 'end', '+a']);
    expect(errors).toEqual([error]);
    expect(cluster.calls).toEqual(['list', 'watch', 'watch']);
  });

  test('lists again at once when its version has expired', async () => {
    const { cluster, clock, notes } = begin();
    await clock.advance(5_000);
    cluster.cutWatches(expired('too old resource version'));
    cluster.put(map('a'));
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', 'end', 'begin', '+a', 'end']);
  });

  test('does not hammer a server that always says expired', async () => {
    const { cluster, clock } = begin();
    cluster.before = (verb) => {
      if (verb === 'watch') throw expired('too old');
    };
    await clock.advance(10 * 60_000);
    expect(cluster.calls.length).toBeLessThan(80);
    expect(cluster.calls.length).toBeGreaterThan(20);
  });

  test('does not hammer a server that ends every watch at once', async () => {
    const { cluster, clock } = begin();
    cluster.before = (verb) => {
      if (verb === 'watch') queueMicrotask(() => cluster.cutWatches());
    };
    await clock.advance(10 * 60_000);
    expect(cluster.calls.length).toBeLessThan(80);
  });

  test('survives a server that is away for an hour, and lists when it is back', async () => {
    const cluster = new MemoryCluster<ConfigMap>();
    cluster.put(map('a'));
    cluster.before = () => {
      throw failure(503, 'ServiceUnavailable', 'connect ECONNREFUSED');
    };
    const { clock, notes, reflector } = begin({}, cluster);
    await clock.advance(3_600_000);
    expect(notes.take()).not.toContain('end');
    expect(reflector.status().errors).toBeGreaterThan(100);
    expect(reflector.status().errors).toBeLessThan(300);
    cluster.before = () => undefined;
    await clock.advance(30_000);
    expect(notes.take()).toEqual(['begin', '+a', 'end']);
  });

  test('asks for larger pages when a snapshot expires before its last page', async () => {
    const cluster = new MemoryCluster<ConfigMap>();
    for (let i = 0; i < 8; i += 1) cluster.put(map(`m${i}`));
    const limits: unknown[] = [];
    cluster.before = (verb, { options }) => {
      if (verb !== 'list') return;
      const { limit, ...rest } = options as { limit: number; continue?: string };
      limits.push(limit);
      if (limit < 8 && rest.continue !== undefined) throw expired('the snapshot is gone');
    };
    const { clock, notes } = begin({ pageSize: 2 }, cluster);
    await clock.advance(60_000);
    expect(limits).toEqual([2, 2, 8]);
    expect(notes.take().slice(-10)).toEqual(['begin', ...[...Array(8).keys()].map((i) => `+m${i}`), 'end']);
  });

  test('lists again when a watch keeps failing for reasons that put its knowledge in doubt', async () => {
    const { cluster, clock } = begin();
    await clock.advance(0);
    failNext(cluster, 'watch', ...Array.from({ length: 5 }, () => internalError('bad')));
    cluster.cutWatches(internalError('bad'));
    await clock.advance(5 * 60_000);
    expect(cluster.calls.filter((call) => call === 'list')).toHaveLength(2);
  });

  test('takes the initial objects from the watch where it may', async () => {
    const cluster = new MemoryCluster<ConfigMap>();
    cluster.put(map('a'));
    const { clock, notes } = begin({ streamInitial: true }, cluster);
    await clock.advance(0);
    cluster.put(map('b'));
    await clock.advance(0);
    expect(notes.take()).toEqual(['begin', '+a', 'end', '+b']);
    expect(cluster.calls).toEqual(['watch']);
  });

  test('lists where the server cannot stream the initial objects', async () => {
    const cluster = new MemoryCluster<ConfigMap>();
    cluster.put(map('a'));
    failNext(cluster, 'watch', badRequest('sendInitialEvents is not known here'));
    const { clock, notes } = begin({ streamInitial: true }, cluster);
    await clock.advance(60_000);
    expect(notes.take()).toEqual(['begin', 'begin', '+a', 'end']);
  });
});
