import { describe, expect, test } from 'vitest';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import type { StoredObject } from '../../kinds/served-kind.ts';
import type { StoreEntry } from '../../store/store.ts';
import type { ObjectSnapshot } from '../registry.ts';
import { decodedObjectBytes } from './decoded-size.ts';
import {
  decodeObject,
  encodeObject,
  encodeStored,
  SnapshotCache,
  transientSnapshot,
} from './snapshot-cache.ts';

const kind = builtInKindCatalog().byPlural('v1', 'configmaps')!;

const mebi = 2 ** 20;

function configMap(name: string): StoredObject & { data?: object } {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, resourceVersion: '7' }, data: { k: 'ü' } };
}

function entryOf(name: string, revision = 7): StoreEntry {
  return { key: `default/${name}`, bytes: encodeObject(configMap(name)), createRevision: 7, revision };
}

describe('bytes and objects', () => {
  test('the bytes omit kind and apiVersion and nothing else', () => {
    expect(JSON.parse(new TextDecoder().decode(encodeObject(configMap('a'))))).toEqual({
      metadata: { name: 'a', resourceVersion: '7' },
      data: { k: 'ü' },
    });
  });

  test('decoding returns the encoded object, as a new copy each time', () => {
    const snapshot = new SnapshotCache().get(kind, entryOf('a'));
    expect(decodeObject(snapshot)).toEqual(configMap('a'));
    expect(decodeObject(snapshot)).not.toBe(decodeObject(snapshot));
    expect(decodeObject(snapshot)).not.toBe(snapshot.object);
  });

  test('encoding for storage changes the object to its stored form', () => {
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: { containers: [] } };
    const bytes = encodeStored(pod, { type: 'core/v1.Pod' });
    expect(new TextDecoder().decode(bytes)).toBe('{"metadata":{"name":"a"},"spec":{"containers":null}}');
    expect(pod.spec).toEqual({ containers: null });
  });

  test('a transient snapshot has its own JSON and version', () => {
    const { kind: name, apiVersion, revision, json } = transientSnapshot(configMap('a'));
    expect([name, apiVersion, revision]).toEqual(['ConfigMap', 'v1', 7]);
    expect(json).toEqual(encodeObject(configMap('a')));
    expect(transientSnapshot({ ...configMap('a'), metadata: {} }).revision).toBe(0);
  });
});

describe('the cache contains', () => {
  test('a decoded object', () => {
    const snapshots = new SnapshotCache();
    const entry = entryOf('a');
    const { object } = snapshots.get(kind, entry);
    expect(snapshots.get(kind, entry).object).toBe(object);
  });

  test('a written object, without decoding it', () => {
    const snapshots = new SnapshotCache();
    const entry = entryOf('a');
    const object = configMap('a');
    expect(snapshots.addWritten(kind, entry, object).object).toBe(object);
    expect(snapshots.get(kind, entry).object).toBe(object);
  });

  test('a limited number of objects; dropped ones are decoded again', () => {
    const snapshots = new SnapshotCache();
    const first = entryOf('first');
    const kept = snapshots.get(kind, first);
    const { object } = kept;
    const others = Array.from({ length: 2048 }, (_, index) => entryOf(`m${index}`));
    for (const entry of others) expect(snapshots.get(kind, entry).object.metadata.name).toBeDefined();
    expect(snapshots.get(kind, first).object).not.toBe(object);
    expect(kept.object).toEqual(object);
    expect(snapshots.get(kind, others[2047]!).object).toBe(snapshots.get(kind, others[2047]!).object);
  });

  test('a limited number of bytes: an object that is updated again and again has no more', () => {
    const snapshots = new SnapshotCache();
    const text = '日'.repeat(300_000);
    const written: ObjectSnapshot[] = [];
    const decoded: object[] = [];
    for (let revision = 1; revision <= 100; revision += 1) {
      const object = { ...configMap('large'), data: { text } };
      const entry = { ...entryOf('large', revision), bytes: encodeObject(object) };
      written.push(snapshots.addWritten(kind, entry, object));
      decoded.push(object);
      expect(snapshots.bytes).toBeLessThanOrEqual(64 * mebi);
    }
    expect(snapshots.bytes).toBeGreaterThan(60 * mebi);
    expect(written.at(-1)?.object).toBe(decoded.at(-1));
    expect(written[0]?.object).not.toBe(decoded[0]);
  });

  test('the newest object, even if it exceeds the limit', () => {
    const snapshots = new SnapshotCache({ bytesMax: 1 });
    const [first, second] = [entryOf('a'), entryOf('b')];
    const { object } = snapshots.get(kind, first);
    expect(snapshots.get(kind, first).object).toBe(object);
    expect(snapshots.get(kind, second).object).toBe(snapshots.get(kind, second).object);
    expect(snapshots.get(kind, first).object).not.toBe(object);
  });

  test('no bytes of an object that is decoded again', () => {
    const snapshots = new SnapshotCache();
    const entry = entryOf('a');
    const [one, other] = [snapshots.get(kind, entry), snapshots.get(kind, entry)];
    expect(one.object).toEqual(other.object);
    expect(snapshots.bytes).toBe(decodedObjectBytes(entry.bytes));
  });

  test('objects by entry, not by key', () => {
    const snapshots = new SnapshotCache();
    const [before, after] = [entryOf('a'), entryOf('a', 8)];
    expect(snapshots.get(kind, before).object).not.toBe(snapshots.get(kind, after).object);
    expect([snapshots.get(kind, before).revision, snapshots.get(kind, after).revision]).toEqual([7, 8]);
  });
});
