import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import type { JsonObject } from '../../kube/go/json-value.ts';
import { shapeOfType } from '../patch/type-shapes.ts';
import { readSequences, replay } from './testing/sequences.ts';
import { withoutNewTimes } from './unchanged-times.ts';
import { type ManagedWrite, updateManagedFields } from './update-managers.ts';

describe('managedFields', () => {
  test.each(['server.ndjson', 'library.ndjson'])(
    'are those of Kubernetes after every write of %s',
    (name) => {
      for (const sequence of readSequences(name)) {
        const expected = sequence.steps.map((step) => step.expected);
        expect(JSON.stringify(replay(sequence))).toBe(JSON.stringify(expected));
      }
    },
  );

  test('are the same list if a write changes no owned field', () => {
    const old = configMap({ a: '1' }, created({ a: '1' }));
    expect(updateManagedFields(write(old, configMap({ a: '1' })))).toBe(
      (old.metadata as JsonObject).managedFields,
    );
  });

  test('keep the time of a writer that only removes', () => {
    const entries = created({ a: '1', b: '2' });
    const updated = updateManagedFields(write(configMap({ a: '1', b: '2' }, entries), configMap({ a: '1' })));
    expect(updated).toEqual([{ ...entries[0], fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } }]);
  });

  test('drop managers of versions that are not served', () => {
    const gone = { ...created({ a: '1' })[0]!, apiVersion: 'gone/v1' };
    const updated = updateManagedFields(write(configMap({ a: '1' }, [gone]), configMap({ a: '2' })));
    expect(updated?.map(({ apiVersion }) => apiVersion)).toEqual(['v1']);
  });

  test('compare by the shape of the version through which a manager wrote', () => {
    const other = { ...created({ a: '1' })[0]!, apiVersion: 'other/v1' };
    const base = write(configMap({ a: '1' }, [other]), configMap({ a: '2' }));
    const asVersion = () => ({ shape: base.shape, resetFields: { 'f:data': {} } });
    expect(updateManagedFields({ ...base, asVersion })?.[0]).toEqual(other);
  });

  test('are none for objects whose list elements have no identity', () => {
    const next = { apiVersion: 'v1', kind: 'Pod', metadata: { finalizers: [null] } };
    const broken = { ...write(undefined, next), shape: shapeOfType('core/v1.Pod') };
    expect(updateManagedFields(broken)).toBeUndefined();
  });

  test('survive fields that are nested too deep', () => {
    const deep = JSON.parse(`${'{"f:a":'.repeat(5_000)}{}${'}'.repeat(5_000)}`);
    const entries = created({ a: '1' });
    const hostile = [{ ...entries[0]!, manager: 'x', fieldsV1: deep }];
    const updated = updateManagedFields(
      write(configMap({ a: '1' }, entries), configMap({ a: '1' }, hostile)),
    );
    expect(updated).toBe(entries);
  });
});

describe('new times alone', () => {
  test('are replaced by the old times', () => {
    const old = created({ a: '1' });
    const next = old.map((entry) => ({ ...entry, time: '2030-01-01T00:00:00Z' }));
    expect(withoutNewTimes(next, old)).toBe(old);
  });

  test('are kept if something else changed', () => {
    const next = created({ a: '1', b: '2' });
    expect(withoutNewTimes(next, created({ a: '1' }))).toBe(next);
  });
});

function configMap(data: JsonObject, managedFields?: readonly ManagedFieldsEntry[]): JsonObject {
  const owners =
    managedFields === undefined ? {} : { managedFields: managedFields as unknown as JsonObject[] };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', uid: 'u', ...owners }, data };
}

function write(old: JsonObject | undefined, next: JsonObject): ManagedWrite {
  const shape = shapeOfType('core/v1.ConfigMap');
  return { old, next, shape, manager: 'm', apiVersion: 'v1', subresource: '', time: '2026-01-31T12:00:00Z' };
}

function created(data: JsonObject): readonly ManagedFieldsEntry[] {
  return updateManagedFields({ ...write(undefined, configMap(data)), time: '2026-01-01T00:00:00Z' })!;
}
