import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change, Subscription } from '../store.ts';
import { settle } from './held-durability.ts';
import { durable, type OpenStore, put, Recorder, remove } from './store-driver.ts';

/** Who is told what, and when. */
export function subscriptionContract(open: OpenStore): void {
  test('replay the history before they return, then go on', async () => {
    const store = await open();
    const { revision } = put(store, 'a', '1');
    put(store, 'a', '2');
    put(store, 'b', '1');
    put(store, 'a', '1', 'nodes');
    await durable(store);
    const recorder = new Recorder();
    store.subscribe('pods', revision, recorder.listener);
    expect(recorder.batches).toEqual([['put a=2', 'put b=1']]);
    remove(store, 'a');
    await durable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=2', 'put b=1', 'remove a=gone']);
  });

  test('carry what was there before', async () => {
    const store = await open();
    const changes: Change[] = [];
    store.subscribe('pods', 1, (batch) => changes.push(...batch));
    const created = put(store, 'a', '1');
    const updated = put(store, 'a', '2');
    const removed = remove(store, 'a');
    await durable(store);
    await settle();
    expect(changes).toEqual([
      { type: 'put', bucket: 'pods', entry: created, previous: undefined },
      { type: 'put', bucket: 'pods', entry: updated, previous: created },
      { type: 'remove', bucket: 'pods', entry: removed, previous: updated },
    ]);
  });

  test('are never told from within a write, and of one turn in one batch', async () => {
    const store = await open();
    const recorder = new Recorder();
    store.subscribe('pods', store.revision, recorder.listener);
    put(store, 'a', '1');
    put(store, 'b', '1');
    expect(recorder.batches).toEqual([]);
    await durable(store);
    await settle();
    expect(recorder.batches).toEqual([['put a=1', 'put b=1']]);
  });

  test('wait for a revision in the future', async () => {
    const store = await open();
    const recorder = new Recorder();
    expect(store.subscribe('pods', store.revision + 2, recorder.listener)).toBeDefined();
    for (const text of ['1', '2', '3', '4']) put(store, 'a', text);
    await durable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=3', 'put a=4']);
  });

  test('are not told again what they were told in the replay', async () => {
    const store = await open();
    const recorder = new Recorder();
    put(store, 'a', '1');
    store.subscribe('pods', 1, recorder.listener);
    put(store, 'a', '2');
    await durable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=1', 'put a=2']);
  });

  test('end when they are closed, also by another listener in the middle of a delivery', async () => {
    const store = await open();
    const first = new Recorder();
    const second = new Recorder();
    const subscriptions: (Subscription | undefined)[] = [];
    const closing = (changes: readonly Change[]) => {
      first.listener(changes);
      for (const subscription of subscriptions) subscription?.close();
    };
    subscriptions.push(store.subscribe('pods', 1, closing), store.subscribe('pods', 1, second.listener));
    put(store, 'a', '1');
    await durable(store);
    await settle();
    put(store, 'a', '2');
    await durable(store);
    await settle();
    expect([first.all, second.all]).toEqual([['put a=1'], []]);
  });

  test('may be closed twice, and close only themselves', async () => {
    const store = await open();
    const recorder = new Recorder();
    const ended = store.subscribe('pods', 1, () => expect.fail('closed'));
    store.subscribe('pods', 1, recorder.listener);
    ended?.close();
    ended?.close();
    put(store, 'a', '1');
    await durable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=1']);
  });

  test('let a listener write and subscribe', async () => {
    const store = await open();
    const outer = new Recorder();
    const inner = new Recorder();
    store.subscribe('pods', 1, (changes) => {
      outer.listener(changes);
      if (outer.all.length > 1) return;
      put(store, 'a', '2');
      store.subscribe('pods', 1, inner.listener);
    });
    put(store, 'a', '1');
    await durable(store);
    await settle();
    await durable(store);
    await settle();
    expect([outer.all, inner.all]).toEqual([
      ['put a=1', 'put a=2'],
      ['put a=1', 'put a=2'],
    ]);
  });

  test('miss nothing and repeat nothing, whenever they begin', async () => {
    const step = fc.constantFrom('put', 'remove', 'subscribe', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = await open({ changesMax: 12, changesMin: 1 });
        const written: number[] = [];
        const subscribers: { readonly from: number; readonly recorder: Recorder }[] = [];
        for (const [index, what] of steps.entries()) {
          if (what === 'put') written.push(put(store, 'a', `${index}`).revision);
          if (what === 'remove' && store.get('pods', 'a')) written.push(remove(store, 'a').revision);
          if (what === 'wait') await durable(store);
          if (what !== 'subscribe') continue;
          const from = Math.max(store.compactedRevision, store.revision - (index % 5));
          const recorder = new Recorder();
          expect(store.subscribe('pods', from, recorder.listener)).toBeDefined();
          subscribers.push({ from, recorder });
        }
        await durable(store);
        await settle();
        for (const { from, recorder } of subscribers)
          expect(recorder.revisions).toEqual(written.filter((revision) => revision > from));
        await store.close();
      }),
      { numRuns: 40 },
    );
  });
}
