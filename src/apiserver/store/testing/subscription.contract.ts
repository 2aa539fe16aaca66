import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoreChange, Subscription } from '../store.ts';
import { settle } from './manual-durability.ts';
import { ChangeRecorder, type OpenStore, putText, removeKey, untilDurable } from './store-driver.ts';

/** The contract of subscriptions. */
export function subscriptionContract(open: OpenStore): void {
  test('replay the history before they return, then continue', async () => {
    const store = await open();
    const { revision } = putText(store, 'a', '1');
    putText(store, 'a', '2');
    putText(store, 'b', '1');
    putText(store, 'a', '1', 'nodes');
    await untilDurable(store);
    const recorder = new ChangeRecorder();
    store.subscribe('pods', revision, recorder.listener);
    expect(recorder.batches).toEqual([['put a=2', 'put b=1']]);
    removeKey(store, 'a');
    await untilDurable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=2', 'put b=1', 'remove a=gone']);
  });

  test('deliver the previous entry', async () => {
    const store = await open();
    const changes: StoreChange[] = [];
    store.subscribe('pods', 1, (batch) => changes.push(...batch));
    const created = putText(store, 'a', '1');
    const updated = putText(store, 'a', '2');
    const removed = removeKey(store, 'a');
    await untilDurable(store);
    await settle();
    expect(changes).toEqual([
      { type: 'put', bucket: 'pods', entry: created, previous: undefined },
      { type: 'put', bucket: 'pods', entry: updated, previous: created },
      { type: 'remove', bucket: 'pods', entry: removed, previous: updated },
    ]);
  });

  test('are never notified from within a write, and receive the changes of one turn as one batch', async () => {
    const store = await open();
    const recorder = new ChangeRecorder();
    store.subscribe('pods', store.revision, recorder.listener);
    putText(store, 'a', '1');
    putText(store, 'b', '1');
    expect(recorder.batches).toEqual([]);
    await untilDurable(store);
    await settle();
    expect(recorder.batches).toEqual([['put a=1', 'put b=1']]);
  });

  test('wait for a revision in the future', async () => {
    const store = await open();
    const recorder = new ChangeRecorder();
    expect(store.subscribe('pods', store.revision + 2, recorder.listener)).toBeDefined();
    for (const text of ['1', '2', '3', '4']) putText(store, 'a', text);
    await untilDurable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=3', 'put a=4']);
  });

  test('do not receive replayed changes again', async () => {
    const store = await open();
    const recorder = new ChangeRecorder();
    putText(store, 'a', '1');
    store.subscribe('pods', 1, recorder.listener);
    putText(store, 'a', '2');
    await untilDurable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=1', 'put a=2']);
  });

  test('end when they are closed, also by another listener during a delivery', async () => {
    const store = await open();
    const first = new ChangeRecorder();
    const second = new ChangeRecorder();
    const subscriptions: (Subscription | undefined)[] = [];
    const closing = (changes: readonly StoreChange[]) => {
      first.listener(changes);
      for (const subscription of subscriptions) subscription?.close();
    };
    subscriptions.push(store.subscribe('pods', 1, closing), store.subscribe('pods', 1, second.listener));
    putText(store, 'a', '1');
    await untilDurable(store);
    await settle();
    putText(store, 'a', '2');
    await untilDurable(store);
    await settle();
    expect([first.all, second.all]).toEqual([['put a=1'], []]);
  });

  test('may be closed twice, and close only themselves', async () => {
    const store = await open();
    const recorder = new ChangeRecorder();
    const ended = store.subscribe('pods', 1, () => expect.fail('closed'));
    store.subscribe('pods', 1, recorder.listener);
    ended?.close();
    ended?.close();
    putText(store, 'a', '1');
    await untilDurable(store);
    await settle();
    expect(recorder.all).toEqual(['put a=1']);
  });

  test('let a listener write and subscribe', async () => {
    const store = await open();
    const outer = new ChangeRecorder();
    const inner = new ChangeRecorder();
    store.subscribe('pods', 1, (changes) => {
      outer.listener(changes);
      if (outer.all.length > 1) return;
      putText(store, 'a', '2');
      store.subscribe('pods', 1, inner.listener);
    });
    putText(store, 'a', '1');
    await untilDurable(store);
    await settle();
    await untilDurable(store);
    await settle();
    expect([outer.all, inner.all]).toEqual([
      ['put a=1', 'put a=2'],
      ['put a=1', 'put a=2'],
    ]);
  });

  test('miss and repeat nothing, whenever they begin', async () => {
    const step = fc.constantFrom('put', 'remove', 'subscribe', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = await open({ changesMax: 12, changesMin: 1 });
        const written: number[] = [];
        const subscribers: { readonly from: number; readonly recorder: ChangeRecorder }[] = [];
        for (const [index, what] of steps.entries()) {
          if (what === 'put') written.push(putText(store, 'a', `${index}`).revision);
          if (what === 'remove' && store.get('pods', 'a')) written.push(removeKey(store, 'a').revision);
          if (what === 'wait') await untilDurable(store);
          if (what !== 'subscribe') continue;
          const from = Math.max(store.compactedRevision, store.revision - (index % 5));
          const recorder = new ChangeRecorder();
          expect(store.subscribe('pods', from, recorder.listener)).toBeDefined();
          subscribers.push({ from, recorder });
        }
        await untilDurable(store);
        await settle();
        for (const { from, recorder } of subscribers)
          expect(recorder.revisions).toEqual(written.filter((revision) => revision > from));
        await store.close();
      }),
      { numRuns: 40 },
    );
  });
}
