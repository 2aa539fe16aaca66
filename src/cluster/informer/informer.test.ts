import { afterEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../kube/core.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { expired } from '../api-error.ts';
import type { Projected } from '../cluster.ts';
import { pods } from '../resources.ts';
import { MemoryCluster } from '../testing/memory-cluster.ts';
import { Informer, type InformerHandler, type InformerOptions } from './informer.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function pod(name: string, node = 'n1'): Pod {
  return {
    metadata: { namespace: 'default', name, managedFields: [{ manager: 'kubectl' }] },
    spec: { nodeName: node },
  };
}

function begin(options: Partial<InformerOptions<Pod>> = {}, cluster = new MemoryCluster<Pod>()) {
  const clock = new VirtualClock();
  const random = seededRandom('informer');
  const supervisor = new Supervisor({ clock, random, onCrash: (crash) => expect.fail(String(crash.error)) });
  const errors: unknown[] = [];
  const informer = new Informer<Pod>({
    cluster,
    resource: pods,
    clock,
    random,
    indexes: { node: (object) => [object.spec?.nodeName ?? ''] },
    onError: (error) => errors.push(error),
    ...options,
  });
  informer.start(supervisor);
  ends.push(async () => {
    expect(await supervisor.close()).toEqual([]);
    expect(clock.pending).toBe(0);
  });
  return { cluster, clock, informer, errors, supervisor };
}

class Diary implements InformerHandler<Pod> {
  readonly #lines: string[] = [];

  added(object: Projected<Pod>): void {
    this.#lines.push(`+${object.metadata?.name}`);
  }

  updated(object: Projected<Pod>, old: Projected<Pod>): void {
    this.#lines.push(`${object.metadata?.name} ${old.spec?.nodeName}->${object.spec?.nodeName}`);
  }

  deleted(object: Projected<Pod>): void {
    this.#lines.push(`-${object.metadata?.name} ${object.spec?.nodeName}`);
  }

  take(): string[] {
    return this.#lines.splice(0);
  }
}

describe('an informer', () => {
  test('knows what is there, tells what changes, and gives the old object with the new', async () => {
    const cluster = new MemoryCluster<Pod>();
    cluster.put(pod('a'));
    const { clock, informer } = begin({}, cluster);
    const diary = new Diary();
    informer.addHandler(diary);
    await clock.advance(0);
    cluster.put(pod('b'));
    cluster.put(pod('a', 'n2'));
    cluster.remove({ namespace: 'default', name: 'b' });
    await clock.advance(0);
    expect(diary.take()).toEqual(['+a', '+b', 'a n1->n2', '-b n1']);
    expect(informer.get('default/a')?.spec?.nodeName).toBe('n2');
    expect(informer.get('default/b')).toBeUndefined();
  });

  test('is synced when all pages are in, not before', async () => {
    const cluster = new MemoryCluster<Pod>();
    for (const name of ['a', 'b', 'c']) cluster.put(pod(name));
    let letThrough = () => {};
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    cluster.before = (verb) => (cluster.calls.length > 1 && verb === 'list' ? gate : undefined);
    const { clock, informer } = begin({ pageSize: 2 }, cluster);
    const synced = informer.synced(new AbortController().signal);
    await clock.advance(0);
    expect([informer.size, informer.hasSynced]).toEqual([2, false]);
    letThrough();
    await clock.advance(0);
    expect(await synced).toBe(true);
    expect(informer.size).toBe(3);
  });

  test('stops waiting for sync when the signal aborts', async () => {
    const { cluster, informer } = begin();
    cluster.before = () => new Promise(() => {});
    const controller = new AbortController();
    const synced = informer.synced(controller.signal);
    controller.abort();
    expect(await synced).toBe(false);
    // Nobody answers the list that hangs; the supervisor need not wait for it.
    ends.length = 0;
  });

  test('drops managedFields, and what the projection drops', async () => {
    const cluster = new MemoryCluster<Pod>();
    cluster.put(pod('a'));
    const { clock, informer } = begin(
      { projection: ({ metadata }) => ({ metadata: metadata ?? {} }) },
      cluster,
    );
    await clock.advance(0);
    const kept = informer.get('default/a');
    expect(kept?.metadata?.managedFields).toBeUndefined();
    expect(kept?.spec).toBeUndefined();
    expect(cluster.objects()[0]?.metadata?.managedFields).toBeDefined();
  });

  test('finds keys by index, through changes and deletions', async () => {
    const { cluster, clock, informer } = begin();
    for (const [name, node] of [
      ['a', 'n1'],
      ['b', 'n1'],
      ['c', 'n2'],
    ] as const)
      cluster.put(pod(name, node));
    await clock.advance(0);
    expect([...informer.keysBy('node', 'n1')]).toEqual(['default/a', 'default/b']);
    cluster.put(pod('a', 'n2'));
    cluster.remove({ namespace: 'default', name: 'c' });
    await clock.advance(0);
    expect([...informer.keysBy('node', 'n1')]).toEqual(['default/b']);
    expect([...informer.keysBy('node', 'n2')]).toEqual(['default/a']);
    expect([...informer.keysBy('node', 'n3')]).toEqual([]);
    expect(() => informer.keysBy('zone', 'n3')).toThrow('there is no index named zone');
  });

  test('tells by a re-list what it missed: changes, deletions with the last known object, nothing twice', async () => {
    const { cluster, clock, informer } = begin();
    const diary = new Diary();
    informer.addHandler(diary);
    for (const name of ['same', 'changed', 'gone']) cluster.put(pod(name));
    await clock.advance(5_000);
    diary.take();
    cluster.before = () => {
      throw expired('not now');
    };
    cluster.cutWatches(expired('too old resource version'));
    cluster.put(pod('changed', 'n2'));
    cluster.put(pod('new'));
    cluster.remove({ namespace: 'default', name: 'gone' });
    cluster.compact();
    await clock.advance(5_000);
    expect(diary.take()).toEqual([]);
    cluster.before = () => undefined;
    await clock.advance(60_000);
    expect(diary.take()).toEqual(['changed n1->n2', '+new', '-gone n1']);
    expect(informer.size).toBe(3);
  });

  test('tells an object that was replaced under its name as deleted and added', async () => {
    const { cluster, clock, informer } = begin();
    const diary = new Diary();
    cluster.put(pod('a', 'n1'));
    await clock.advance(0);
    informer.addHandler(diary);
    cluster.put({ ...pod('a', 'n2'), metadata: { namespace: 'default', name: 'a', uid: 'another' } });
    await clock.advance(0);
    expect(diary.take()).toEqual(['+a', '-a n1', '+a']);
    expect([...informer.keysBy('node', 'n1')]).toEqual([]);
  });

  test('goes on when handlers and projections throw, and counts it', async () => {
    const { cluster, clock, informer, errors } = begin({
      projection: (object) => {
        if (object.metadata?.name === 'odd') throw new Error('projection');
        return object;
      },
    });
    const diary = new Diary();
    informer.addHandler({
      added: () => {
        throw new Error('handler');
      },
    });
    informer.addHandler(diary);
    await clock.advance(0);
    cluster.put(pod('a'));
    cluster.put(pod('odd'));
    await clock.advance(0);
    expect(diary.take()).toEqual(['+a', '+odd']);
    expect(informer.status().handlerErrors).toBe(3);
    expect(errors.map(String)).toEqual(['Error: handler', 'Error: projection', 'Error: handler']);
  });

  test('replays to handlers that come later, also while it tells others, each change once', async () => {
    const { cluster, clock, informer } = begin();
    const late = new Diary();
    let isAdded = false;
    const remove = informer.addHandler({
      added: () => {
        if (!isAdded) informer.addHandler(late);
        isAdded = true;
      },
    });
    await clock.advance(0);
    cluster.put(pod('a'));
    cluster.put(pod('b'));
    await clock.advance(0);
    remove();
    cluster.put(pod('c'));
    await clock.advance(0);
    expect(late.take()).toEqual(['+a', '+b', '+c']);
  });

  test('does not call a handler any more once it is taken away, not even for the change at hand', async () => {
    const { cluster, clock, informer } = begin();
    const second = new Diary();
    let removeSecond = () => {};
    informer.addHandler({ added: () => removeSecond() });
    removeSecond = informer.addHandler(second);
    await clock.advance(0);
    cluster.put(pod('a'));
    await clock.advance(0);
    expect(second.take()).toEqual([]);
  });

  test('copes with 100,000 objects in one page', async () => {
    const cluster = new MemoryCluster<Pod>();
    for (let i = 0; i < 100_000; i += 1) cluster.put(pod(`p${i}`, `n${i % 100}`));
    const { clock, informer } = begin({ pageSize: 200_000 }, cluster);
    await clock.advance(0);
    expect(informer.size).toBe(100_000);
    expect(informer.keysBy('node', 'n7').size).toBe(1_000);
    let seen = 0;
    informer.addHandler({
      added: () => {
        seen += 1;
      },
    });
    expect(seen).toBe(100_000);
  });
});
