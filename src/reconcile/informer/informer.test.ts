import { afterEach, describe, expect, test } from 'vitest';
import type { MemoryStoreOptions } from '../../apiserver/store/memory-store.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import { failWith, hang } from '../../cluster/testing/fault-hooks.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import { failure } from '../../kube/api-error.ts';
import { configMaps, secrets } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Informer, type InformerHandler, type InformerOptions } from './informer.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const namespace = 'default';
/** Small, so that a test can exceed it. */
const changesMax = 16;

interface Beginning extends Partial<InformerOptions<ConfigMap>> {
  /** ConfigMaps that exist before the informer starts. */
  readonly names?: readonly string[];
  readonly store?: MemoryStoreOptions;
  /** Injects faults from the start. */
  readonly prepare?: (intercepted: InterceptedCluster) => void;
}

/** An informer of ConfigMaps, whose data say which node they are for. */
async function begin({ names = [], store, prepare, ...options }: Beginning = {}) {
  const clock = new VirtualClock();
  const { cluster, intercepted } = await EmbeddedFixture.start(clock, { history: { changesMax }, ...store });
  const maps = cluster.resource(configMaps);
  const create = (name: string, node = 'n1') =>
    maps.create({ metadata: { namespace, name }, data: { node } });
  const move = (name: string, node: string) =>
    maps.patch({ namespace, name }, { type: 'merge', body: { data: { node } } });
  const remove = (name: string) => maps.delete({ namespace, name });
  for (const name of names) await create(name);
  prepare?.(intercepted);
  const random = seededRandom('informer');
  const supervisor = new Supervisor({ clock, random, onCrash: (crash) => expect.fail(String(crash.error)) });
  const errors: unknown[] = [];
  const informer = new Informer<ConfigMap>({
    cluster: intercepted,
    resource: configMaps,
    clock,
    random,
    indexes: { node: (object) => [object.data?.node ?? ''] },
    onError: (error) => errors.push(error),
    ...options,
  });
  informer.start(supervisor);
  ends.push(async () => {
    expect(await supervisor.close()).toEqual([]);
    expect(clock.pending).toBe(0);
  });
  return { cluster, intercepted, maps, create, move, remove, clock, informer, errors };
}

class ChangeLog implements InformerHandler<ConfigMap> {
  readonly #lines: string[] = [];

  added(object: Projected<ConfigMap>): void {
    this.#lines.push(`+${object.metadata?.name}`);
  }

  updated(object: Projected<ConfigMap>, old: Projected<ConfigMap>): void {
    this.#lines.push(`${object.metadata?.name} ${old.data?.node}->${object.data?.node}`);
  }

  deleted(object: Projected<ConfigMap>): void {
    this.#lines.push(`-${object.metadata?.name} ${object.data?.node}`);
  }

  take(): string[] {
    return this.#lines.splice(0);
  }
}

describe('an informer', () => {
  test('has the existing objects, reports changes, and passes the old object with the new one', async () => {
    const { clock, informer, create, move, remove } = await begin({ names: ['a'] });
    const changes = new ChangeLog();
    informer.addHandler(changes);
    await clock.advance(0);
    await create('b');
    await move('a', 'n2');
    await remove('b');
    await clock.advance(0);
    expect(changes.take()).toEqual(['+a', '+b', 'a n1->n2', '-b n1']);
    expect(informer.get('default/a')?.data?.node).toBe('n2');
    expect(informer.get('default/b')).toBeUndefined();
  });

  test('is synced when all pages have been read, not before', async () => {
    let letThrough = () => {};
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    const { clock, informer } = await begin({
      names: ['a', 'b', 'c'],
      pageSize: 2,
      prepare: (intercepted) => {
        intercepted.addHooks({
          before: ({ options }) => (options.continue === undefined ? undefined : gate),
        });
      },
    });
    const synced = informer.synced(new AbortController().signal);
    await clock.advance(0);
    expect([informer.size, informer.hasSynced]).toEqual([2, false]);
    letThrough();
    await clock.advance(0);
    expect(await synced).toBe(true);
    expect(informer.size).toBe(3);
  });

  test('stops waiting for sync when the signal aborts', async () => {
    const { informer } = await begin({
      prepare: (intercepted) => {
        intercepted.addHooks({ before: hang() });
      },
    });
    const controller = new AbortController();
    const synced = informer.synced(controller.signal);
    controller.abort();
    expect(await synced).toBe(false);
  });

  test('drops managedFields, and what the projection drops', async () => {
    const { clock, informer, maps } = await begin({
      names: ['a'],
      projection: ({ metadata }) => ({ metadata: metadata ?? {} }),
    });
    await clock.advance(0);
    const kept = informer.get('default/a');
    expect(kept?.metadata?.name).toBe('a');
    expect(kept?.metadata?.managedFields).toBeUndefined();
    expect(kept?.data).toBeUndefined();
    const live = await maps.get({ namespace, name: 'a' });
    expect(live.metadata?.managedFields).toHaveLength(1);
  });

  test('finds keys by index, through changes and deletions', async () => {
    const { clock, informer, create, move, remove } = await begin();
    await create('a', 'n1');
    await create('b', 'n1');
    await create('c', 'n2');
    await clock.advance(0);
    expect([...informer.keysBy('node', 'n1')]).toEqual(['default/a', 'default/b']);
    await move('a', 'n2');
    await remove('c');
    await clock.advance(0);
    expect([...informer.keysBy('node', 'n1')]).toEqual(['default/b']);
    expect([...informer.keysBy('node', 'n2')]).toEqual(['default/a']);
    expect([...informer.keysBy('node', 'n3')]).toEqual([]);
    expect(() => informer.keysBy('zone', 'n3')).toThrow('there is no index named zone');
  });

  describe('that was disconnected for longer than the server keeps history', () => {
    async function startDisconnected(names: readonly string[]) {
      const started = await begin({ names });
      const { clock, cluster, intercepted, informer } = started;
      await clock.advance(5_000);
      const changes = new ChangeLog();
      informer.addHandler(changes);
      changes.take();
      const reconnect = intercepted.addHooks({
        before: failWith(failure(503, 'ServiceUnavailable', 'not now')),
      });
      intercepted.endWatches();
      /** The server is available again, but has dropped the history that the informer missed. */
      const recover = async () => {
        for (let i = 0; i <= changesMax; i += 1)
          await cluster.resource(secrets).create({ metadata: { namespace, generateName: 'noise-' } });
        await clock.advance(5_000);
        expect(changes.take()).toEqual([]);
        reconnect();
        await clock.advance(60_000);
        expect(started.errors.at(-1)).toMatchObject({ reason: 'Expired' });
      };
      return { ...started, changes, recover };
    }

    test('reports what it missed: changes, deletions with the last known object, nothing twice', async () => {
      const { changes, recover, informer, create, move, remove } = await startDisconnected([
        'same',
        'changed',
        'gone',
      ]);
      await move('changed', 'n2');
      await create('new');
      await remove('gone');
      await recover();
      expect(changes.take()).toEqual(['changed n1->n2', '+new', '-gone n1']);
      expect(informer.size).toBe(3);
    });

    test('reports an object that was replaced under its name as deleted and added', async () => {
      const { changes, recover, informer, create, remove } = await startDisconnected(['a']);
      await remove('a');
      await create('a', 'n2');
      await recover();
      expect(changes.take()).toEqual(['-a n1', '+a']);
      expect([...informer.keysBy('node', 'n1')]).toEqual([]);
    });
  });

  test('continues when handlers and projections throw, and counts that', async () => {
    const { create, clock, informer, errors } = await begin({
      projection: (object) => {
        if (object.metadata?.name === 'odd') throw new Error('projection');
        return object;
      },
    });
    const changes = new ChangeLog();
    informer.addHandler({
      added: () => {
        throw new Error('handler');
      },
    });
    informer.addHandler(changes);
    await clock.advance(0);
    await create('a');
    await create('odd');
    await clock.advance(0);
    expect(changes.take()).toEqual(['+a', '+odd']);
    expect(informer.status().handlerErrors).toBe(3);
    expect(errors.map(String)).toEqual(['Error: handler', 'Error: projection', 'Error: handler']);
  });

  test('replays to handlers that are added later, even during a dispatch, each change once', async () => {
    const { create, clock, informer } = await begin();
    const late = new ChangeLog();
    let isAdded = false;
    const remove = informer.addHandler({
      added: () => {
        if (!isAdded) informer.addHandler(late);
        isAdded = true;
      },
    });
    await clock.advance(0);
    await create('a');
    await create('b');
    await clock.advance(0);
    remove();
    await create('c');
    await clock.advance(0);
    expect(late.take()).toEqual(['+a', '+b', '+c']);
  });

  test('does not call a handler after its removal, not even for the current change', async () => {
    const { create, clock, informer } = await begin();
    const second = new ChangeLog();
    let removeSecond = () => {};
    informer.addHandler({ added: () => removeSecond() });
    removeSecond = informer.addHandler(second);
    await clock.advance(0);
    await create('a');
    await clock.advance(0);
    expect(second.take()).toEqual([]);
  });

  // More than fit on the stack as arguments of one call.
  test.each([
    ['one page', { pageSize: 200_000 }],
    ['one stream', { streamInitial: true }],
  ])('handles 150,000 objects in %s', async (_, options) => {
    const store = { initial: { revision: 150_001, entries: manyMaps(150_000) } };
    const { clock, informer } = await begin({ ...options, store });
    await clock.advance(0);
    expect([informer.size, informer.hasSynced]).toEqual([150_000, true]);
    expect(informer.keysBy('node', 'n7').size).toBe(1_500);
    let seen = 0;
    informer.addHandler({
      added: () => {
        seen += 1;
      },
    });
    expect(seen).toBe(150_000);
  });
});

/** As an earlier process of the server left them. */
function* manyMaps(count: number) {
  for (let index = 0; index < count; index += 1) {
    const revision = index + 2;
    const metadata = { namespace, name: `m${index}`, resourceVersion: String(revision), uid: `u${index}` };
    const bytes = Buffer.from(JSON.stringify({ metadata, data: { node: `n${index % 100}` } }));
    const key = `${namespace}/m${index}`;
    yield ['configmaps', { key, bytes, createRevision: revision, revision }] as const;
  }
}
