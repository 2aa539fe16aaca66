import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { ListRange, Store } from '../store.ts';
import { ModelStore } from './model-store.ts';
import { describeEntries, type OpenStore, putText, removeKey, untilDurable } from './store-driver.ts';
import { subscriptionContract } from './subscription.contract.ts';

/** The contract of every implementation of `Store`. */
export function storeContract(name: string, openStore: OpenStore): void {
  const opened: Store[] = [];
  const open: OpenStore = async (history) => {
    const store = await openStore(history);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  describe(name, () => {
    describe('writes', () => writeContract(open));
    describe('lists', () => listContract(open));
    describe('the history', () => historyContract(open));
    describe('subscriptions', () => subscriptionContract(open));
    describe('closing', () => closeContract(open));
  });
}

function writeContract(open: OpenStore): void {
  test('begin at revision 1 with an empty store', async () => {
    const store = await open();
    expect([store.revision, store.durableRevision, store.compactedRevision]).toEqual([1, 1, 1]);
    expect(store.get('pods', 'a')).toBeUndefined();
    expect(store.whenDurable(1)).toBeUndefined();
  });

  test('are visible at once, with the revision passed to encode', async () => {
    const store = await open();
    const created = store.put('pods', 'a', 0, (revision) => Buffer.from(`made for ${revision}`));
    expect(describeEntries([created])).toBe(`a=made for ${created.revision}`);
    expect(store.get('pods', 'a')).toBe(created);
    expect(store.revision).toBe(created.revision);
    expect(created.createRevision).toBe(created.revision);
  });

  test('keep the revision of the creation until the entry is removed', async () => {
    const store = await open();
    const first = putText(store, 'a', '1');
    const second = putText(store, 'a', '2');
    expect(second.createRevision).toBe(first.revision);
    const removed = removeKey(store, 'a');
    expect(removed).toMatchObject({ createRevision: first.revision, revision: store.revision });
    expect(store.get('pods', 'a')).toBeUndefined();
    const again = putText(store, 'a', '3');
    expect(again.createRevision).toBe(again.revision);
  });

  test('get increasing revisions across buckets', async () => {
    const store = await open();
    const revisions = [
      putText(store, 'a', '1'),
      putText(store, 'a', '1', 'nodes'),
      removeKey(store, 'a'),
    ].map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(revisions[0]).toBeGreaterThan(1);
  });

  test.each([
    { what: 'the creation of an existing entry', key: 'there', replaces: 0 },
    { what: 'the replacement of a missing entry', key: 'absent', replaces: 2 },
    { what: 'a replacement of an older revision', key: 'there', replaces: 2 },
    { what: 'a replacement of a later revision', key: 'there', replaces: 9 },
  ])('refuse $what, and change nothing', async ({ key, replaces }) => {
    const store = await open();
    putText(store, 'there', '1');
    const there = putText(store, 'there', '2');
    const encode = () => Buffer.from('x');
    expect(() => store.put('pods', key, replaces, encode)).toThrow(/replaces revision/);
    expect(() => store.remove('pods', key, replaces, encode)).toThrow(/revision/);
    expect(store.list('pods')).toEqual([there]);
    expect(store.revision).toBe(there.revision);
  });

  test('change nothing if encoding throws', async () => {
    const store = await open();
    const failing = () => {
      throw new Error('no bytes');
    };
    expect(() => store.put('pods', 'a', 0, failing)).toThrow('no bytes');
    expect([store.revision, store.count('pods')]).toEqual([1, 0]);
  });

  test.each([
    { what: 'an empty bucket', bucket: '', key: 'a' },
    { what: 'a bucket with a NUL', bucket: 'po\0ds', key: 'a' },
    { what: 'a key of 2,000 bytes', bucket: 'pods', key: 'ä'.repeat(1000) },
  ])('refuse $what', async ({ bucket, key }) => {
    const store = await open();
    expect(() => putText(store, key, '1', bucket)).toThrow();
    expect(store.count(bucket)).toBe(0);
  });

  test('become durable; whenDurable is undefined from then on', async () => {
    const store = await open();
    const first = putText(store, 'a', '1');
    const second = putText(store, 'b', '1');
    await store.whenDurable(second.revision);
    expect(store.durableRevision).toBe(second.revision);
    expect(store.whenDurable(first.revision)).toBeUndefined();
    expect(() => store.whenDurable(second.revision + 1)).toThrow(/newer than the current/);
  });

  test('accept bytes of any length and keep no other memory', async () => {
    const store = await open();
    const pool = Buffer.alloc(100_000, 'x');
    const { bytes } = store.put('pods', 'small', 0, () => pool.subarray(10, 20));
    expect(bytes.buffer.byteLength).toBe(10);
    expect(store.put('pods', 'none', 0, () => Buffer.alloc(0)).bytes).toHaveLength(0);
    expect(store.put('pods', 'large', 0, () => Buffer.alloc(3_000_000, 'y')).bytes).toHaveLength(3_000_000);
    await untilDurable(store);
  });
}

function listContract(open: OpenStore): void {
  const keys = ['a', 'ns/', 'ns/a', 'ns/b', 'ns/b/c', 'ns0', 'ns1/a', 'z'];
  test.each<{ range: ListRange | undefined; expected: string[] }>([
    { range: undefined, expected: keys },
    { range: { prefix: 'ns/' }, expected: ['ns/', 'ns/a', 'ns/b', 'ns/b/c'] },
    { range: { prefix: 'ns/', after: 'ns/a' }, expected: ['ns/b', 'ns/b/c'] },
    { range: { prefix: 'ns/', after: 'ns/aa', limit: 1 }, expected: ['ns/b'] },
    { range: { prefix: 'ns1/', after: 'a' }, expected: ['ns1/a'] },
    { range: { prefix: 'a', after: 'b' }, expected: [] },
    { range: { limit: 2 }, expected: ['a', 'ns/'] },
    { range: { limit: 0 }, expected: [] },
    { range: { after: 'z' }, expected: [] },
    { range: { prefix: 'absent' }, expected: [] },
  ])('are sorted by key: $range', async ({ range, expected }) => {
    const store = await open();
    for (const key of [...keys].reverse()) putText(store, key, '1');
    putText(store, 'ns/other', '1', 'nodes');
    expect(store.list('pods', range).map(({ key }) => key)).toEqual(expected);
    expect(store.listAt('pods', store.revision, range)).toEqual(store.list('pods', range));
    if (range?.after === undefined && range?.limit === undefined)
      expect(store.count('pods', range?.prefix)).toBe(expected.length);
  });

  test('of an unused bucket are empty', async () => {
    const store = await open();
    expect([store.list('pods'), store.count('pods'), store.listAt('pods', 1)]).toEqual([[], 0, []]);
  });

  test('do not change after they were returned', async () => {
    const store = await open();
    putText(store, 'a', '1');
    const before = store.list('pods');
    putText(store, 'a', '2');
    removeKey(store, 'a');
    expect(describeEntries(before)).toBe('a=1');
  });
}

const key = fc.constantFrom('a', 'a/1', 'a/2', 'b', 'b/1', 'c');
const write = fc.record({ key, bucket: fc.constantFrom('pods', 'nodes'), isRemoval: fc.boolean() });
const range = fc.record(
  {
    prefix: fc.constantFrom('', 'a', 'a/', 'b', 'x'),
    after: key,
    limit: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);

function historyContract(open: OpenStore): void {
  test('has the state at every revision', async () => {
    const someWrites = fc.array(write, { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(someWrites, fc.array(range, { maxLength: 4 }), async (writes, ranges) => {
        const store = await open();
        const model = new ModelStore(store.revision);
        for (const [index, made] of writes.entries()) apply(store, model, { ...made, text: `${index}` });
        for (const revision of model.revisions) {
          for (const bucket of ['pods', 'nodes']) expectSameAt(store, model, { bucket, revision, ranges });
        }
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  test('is bounded in changes and reports its oldest revision', async () => {
    const store = await open({ changesMax: 16, changesMin: 4 });
    for (let round = 0; round < 100; round += 1) {
      putText(store, `key-${round % 5}`, `${round}`);
      await untilDurable(store);
      await Promise.resolve();
      expect(store.revision - store.compactedRevision).toBeLessThanOrEqual(16);
      expect(store.listAt('pods', store.compactedRevision)).toBeDefined();
    }
    expect(store.revision - store.compactedRevision).toBeGreaterThanOrEqual(14);
    expect(store.listAt('pods', store.compactedRevision - 1)).toBeUndefined();
    expect(store.subscribe('pods', store.compactedRevision - 1, () => {})).toBeUndefined();
  });

  test('is bounded in bytes, except for a minimum of changes', async () => {
    const store = await open({ bytesMax: 10_000, changesMin: 3 });
    for (let round = 0; round < 20; round += 1) {
      putText(store, 'a', 'x'.repeat(4000));
      await untilDurable(store);
      await Promise.resolve();
    }
    expect(store.revision - store.compactedRevision).toBe(3);
  });

  test('refuses future revisions', async () => {
    const store = await open();
    expect(() => store.listAt('pods', store.revision + 1)).toThrow(/newer than the current/);
  });
}

interface ModelWrite {
  readonly key: string;
  readonly bucket: string;
  readonly isRemoval: boolean;
  readonly text: string;
}

function apply(store: Store, model: ModelStore, { key, bucket, isRemoval, text }: ModelWrite): void {
  if (!isRemoval) model.put(bucket, putText(store, key, text, bucket));
  else if (store.get(bucket, key) !== undefined)
    model.remove(bucket, key, removeKey(store, key, bucket).revision);
}

interface Comparison {
  readonly bucket: string;
  readonly revision: number;
  readonly ranges: readonly ListRange[];
}

function expectSameAt(store: Store, model: ModelStore, { bucket, revision, ranges }: Comparison): void {
  for (const one of [{}, ...ranges]) {
    const expected = model.listAt(bucket, revision, one);
    expect(store.listAt(bucket, revision, one)).toEqual(expected);
    if (revision === store.revision) expect(store.list(bucket, one)).toEqual(expected);
  }
}

function closeContract(open: OpenStore): void {
  test('makes all writes durable and may be called twice', async () => {
    const store = await open();
    const { revision } = putText(store, 'a', '1');
    const pending = store.whenDurable(revision);
    await Promise.all([store.close(), store.close(), pending]);
    expect(store.durableRevision).toBe(revision);
  });

  test.each<{ what: string; call: (store: Store) => unknown }>([
    { what: 'get', call: (store) => store.get('pods', 'a') },
    { what: 'list', call: (store) => store.list('pods') },
    { what: 'count', call: (store) => store.count('pods') },
    { what: 'listAt', call: (store) => store.listAt('pods', 1) },
    { what: 'put', call: (store) => store.put('pods', 'a', 0, () => Buffer.from('1')) },
    { what: 'remove', call: (store) => store.remove('pods', 'a', 2, () => Buffer.from('1')) },
    { what: 'subscribe', call: (store) => store.subscribe('pods', 1, () => {}) },
  ])('ends $what', async ({ call }) => {
    const store = await open();
    const closed = store.close();
    expect(() => call(store)).toThrow('the store is closed');
    await closed;
    expect(() => call(store)).toThrow('the store is closed');
  });
}
