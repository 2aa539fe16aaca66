import { describe, expect, test } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { ManualDurability, settle } from './testing/manual-durability.ts';
import { ChangeRecorder, describeEntries, putText, removeKey } from './testing/store-driver.ts';

const diskFull = new Error('the disk is full');

function openHeld() {
  const durability = new ManualDurability();
  return { durability, store: new MemoryStore({ durability }) };
}

/** Handles the rejection, so that tests may await the promise later. */
function outcomeOf(promise: Promise<void> | undefined): Promise<unknown> {
  return Promise.resolve(promise).then(
    () => 'durable',
    (error) => error,
  );
}

describe('pending writes', () => {
  test('accumulate while the previous batch is being flushed, and share the next batch', async () => {
    const { durability, store } = openHeld();
    putText(store, 'a', '1');
    await settle();
    for (let index = 0; index < 10; index += 1) putText(store, `b${index}`, '1');
    await settle();
    expect(durability.pendingLength).toBe(1);
    await durability.succeed();
    expect(durability.pendingLength).toBe(10);
    await durability.succeed();
    expect(durability.persisted.map(({ entry }) => entry.revision)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    await store.close();
  });

  test('are split if there are too many for one transaction', async () => {
    const { durability, store } = openHeld();
    for (let index = 0; index < 5000; index += 1) putText(store, `${index}`, '1');
    const outcome = outcomeOf(store.whenDurable(store.revision));
    await durability.succeed();
    expect(store.durableRevision).toBe(4097);
    await durability.succeed();
    expect(await outcome).toBe('durable');
    await store.close();
  });

  test('are readable at once; subscribers and waiters are notified when they are durable', async () => {
    const { durability, store } = openHeld();
    const recorder = new ChangeRecorder();
    store.subscribe('pods', 1, recorder.listener);
    const { revision } = putText(store, 'a', '1');
    let isDurable = false;
    void store.whenDurable(revision)?.then(() => {
      isDurable = true;
    });
    await settle();
    expect(describeEntries(store.list('pods'))).toBe('a=1');
    expect([store.revision, store.durableRevision, isDurable, recorder.all]).toEqual([2, 1, false, []]);
    const late = new ChangeRecorder();
    store.subscribe('pods', 1, late.listener);
    expect(late.all).toEqual([]);
    await durability.succeed();
    expect([store.durableRevision, isDurable, recorder.all, late.all]).toEqual([
      2,
      true,
      ['put a=1'],
      ['put a=1'],
    ]);
    await store.close();
  });

  test('are undone by a list of an earlier revision', async () => {
    const { durability, store } = openHeld();
    putText(store, 'a', '1');
    await durability.succeed();
    putText(store, 'a', '2');
    putText(store, 'b', '1');
    expect([1, 2, 3, 4].map((revision) => describeEntries(store.listAt('pods', revision)))).toEqual([
      '',
      'a=1',
      'a=2',
      'a=2 b=1',
    ]);
    await durability.succeed();
    await store.close();
  });
});

describe('when a batch cannot be made durable', () => {
  /** `kept` is durable; of the other writes some are in flight and some are queued. */
  async function withWritesOnTheirWay() {
    const { durability, store } = openHeld();
    putText(store, 'kept', '1');
    putText(store, 'removed', '1');
    await durability.succeed();
    const recorder = new ChangeRecorder();
    store.subscribe('pods', store.revision, recorder.listener);
    putText(store, 'kept', '2');
    removeKey(store, 'removed');
    await settle();
    putText(store, 'kept', '3');
    putText(store, 'removed', 'again');
    const newest = putText(store, 'new', '1');
    return { durability, store, recorder, newest };
  }

  test('all writes since the last durable one are rolled back without notifying subscribers', async () => {
    const { durability, store, recorder } = await withWritesOnTheirWay();
    await durability.fail(diskFull);
    expect(describeEntries(store.list('pods'))).toBe('kept=1 removed=1');
    expect([store.revision, store.durableRevision, store.count('pods')]).toEqual([3, 3, 2]);
    expect(durability.pendingLength).toBe(0);
    expect(recorder.all).toEqual([]);
    await store.close();
  });

  test('every waiter gets the reason, whichever write it waits for', async () => {
    const { durability, store, newest } = await withWritesOnTheirWay();
    const revisions = [4, 5, 6, 7, newest.revision];
    const outcomes = revisions.map((revision) => outcomeOf(store.whenDurable(revision)));
    await durability.fail(diskFull);
    expect(await Promise.all(outcomes)).toEqual(revisions.map(() => diskFull));
    await store.close();
  });

  test('later callers get it too, even after later writes became durable', async () => {
    const { durability, store, newest } = await withWritesOnTheirWay();
    await durability.fail(diskFull);
    expect(await outcomeOf(store.whenDurable(newest.revision))).toBe(diskFull);
    const next = putText(store, 'next', '1');
    await durability.succeed();
    expect(store.durableRevision).toBe(next.revision);
    expect(await outcomeOf(store.whenDurable(newest.revision))).toBe(diskFull);
    expect(await outcomeOf(store.whenDurable(4))).toBe(diskFull);
    expect(store.whenDurable(3)).toBeUndefined();
    await store.close();
  });

  test('the store continues with revisions never issued before', async () => {
    const { durability, store, recorder, newest } = await withWritesOnTheirWay();
    await durability.fail(diskFull);
    const next = putText(store, 'kept', '4');
    expect(next.revision).toBe(newest.revision + 1);
    await durability.succeed();
    expect(recorder.all).toEqual(['put kept=4']);
    expect(describeEntries(store.listAt('pods', 3))).toBe('kept=1 removed=1');
    expect(durability.persisted.map(({ entry }) => describeEntries([entry]))).toEqual([
      'kept=1',
      'removed=1',
      'kept=4',
    ]);
    await store.close();
  });

  test('repeatedly, each write gets the failure that followed it', async () => {
    const { durability, store } = openHeld();
    const failures = [1, 2, 3].map((attempt) => new Error(`attempt ${attempt}`));
    for (const failure of failures) {
      const { revision } = putText(store, 'a', '1');
      const outcome = outcomeOf(store.whenDurable(revision));
      await durability.fail(failure);
      expect(await outcome).toBe(failure);
    }
    expect(await outcomeOf(store.whenDurable(2))).toBe(failures.at(-1));
    expect(putText(store, 'a', '1').revision).toBe(5);
    await durability.succeed();
    await store.close();
  });

  test('writes that may still be rolled back are not compacted, however many there are', async () => {
    const durability = new ManualDurability();
    const store = new MemoryStore({ durability, history: { changesMax: 4, changesMin: 1 } });
    putText(store, 'a', 'durable');
    await settle();
    for (let round = 0; round < 20; round += 1) putText(store, 'a', `${round}`);
    await durability.succeed();
    expect(store.compactedRevision).toBeLessThanOrEqual(store.durableRevision);
    await durability.fail(diskFull);
    expect(describeEntries(store.list('pods'))).toBe('a=durable');
    await store.close();
  });

  test('close rejects but releases the files', async () => {
    const { durability, store } = openHeld();
    putText(store, 'a', '1');
    const closed = outcomeOf(store.close());
    await durability.fail(diskFull);
    expect(await closed).toBe(diskFull);
    expect(durability.isClosed).toBe(true);
  });

  test('a later close does not reject: the waiters were notified', async () => {
    const { durability, store } = openHeld();
    putText(store, 'a', '1');
    await durability.fail(diskFull);
    await store.close();
    expect(durability.isClosed).toBe(true);
  });
});
