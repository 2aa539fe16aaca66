import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kube/go/json-value.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { frozen, type PatchVector, patchErrorMessage, readLines } from './testing/vectors.ts';
import { shapeOfType } from './type-shapes.ts';

const pod: JsonObject = frozen({
  metadata: { name: 'p', labels: { app: 'web' }, finalizers: ['a', 'b', 'c'] },
  spec: {
    containers: [
      { name: 'web', image: 'web:1', ports: [{ containerPort: 80 }, { containerPort: 443 }] },
      { name: 'log', image: 'log:1' },
      { name: 'proxy', image: 'proxy:1' },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
    tolerations: [{ key: 'old' }],
  },
});

function patched(patch: Json): JsonObject {
  return applyStrategicMergePatch(pod, frozen(patch), shapeOfType('core/v1.Pod'));
}

function names(patch: Json, list: 'containers' | 'volumes'): readonly unknown[] {
  const { spec } = patched({ spec: patch }) as unknown as { spec: Record<string, { name: string }[]> };
  return spec[list]!.map(({ name }) => name);
}

describe('a strategic merge patch', () => {
  test('matches the code of Kubernetes', () => {
    for (const { type, original, patch, result, error } of readLines<PatchVector>('strategic.ndjson')) {
      const apply = (): JsonObject =>
        applyStrategicMergePatch(frozen(original), frozen(patch), shapeOfType(type));
      expect(patchErrorMessage(apply)).toBe(error);
      if (error === undefined) expect(apply()).toEqual(result);
    }
  });

  test('merges elements of the same key, and puts new ones where the patch has them', () => {
    const { spec } = patched({ spec: { containers: [{ name: 'log', image: 'log:2' }, { name: 'new' }] } });
    expect(spec).toMatchObject({
      containers: [
        { name: 'web', image: 'web:1' },
        { name: 'log', image: 'log:2' },
        { name: 'new' },
        { name: 'proxy' },
      ],
    });
  });

  test('deletes and replaces by directive', () => {
    expect(names({ containers: [{ name: 'log', $patch: 'delete' }] }, 'containers')).toEqual([
      'web',
      'proxy',
    ]);
    expect(names({ containers: [{ $patch: 'replace' }, { name: 'only' }] }, 'containers')).toEqual(['only']);
    expect(patched({ metadata: { labels: { $patch: 'replace', x: 'y' } } })).toMatchObject({
      metadata: { labels: { x: 'y' } },
    });
    expect(patched({ metadata: { labels: { $patch: 'delete' } } }).metadata).toMatchObject({ labels: {} });
  });

  test('orders by $setElementOrder', () => {
    const order = { '$setElementOrder/containers': [{ name: 'proxy' }, { name: 'web' }, { name: 'log' }] };
    expect(names(order, 'containers')).toEqual(['proxy', 'web', 'log']);
  });

  test('removes members from lists of scalars', () => {
    const { metadata } = patched({ metadata: { '$deleteFromPrimitiveList/finalizers': ['b'] } });
    expect(metadata).toMatchObject({ finalizers: ['a', 'c'] });
  });

  test('keeps only what $retainKeys lists', () => {
    const volume = { name: 'data', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/d' } };
    expect(patched({ spec: { volumes: [volume] } }).spec).toMatchObject({
      volumes: [{ name: 'data', hostPath: { path: '/d' } }],
    });
  });

  test('replaces lists that do not merge', () => {
    expect(patched({ spec: { tolerations: [{ key: 'new' }] } }).spec).toMatchObject({
      tolerations: [{ key: 'new' }],
    });
  });

  test('shares what it does not touch', () => {
    expect(patched({ metadata: { labels: { a: 'b' } } }).spec).toBe(pod.spec);
  });

  test.each([
    ['a property called __proto__', JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}')],
    ['inherited names', { metadata: { labels: { constructor: 'x', toString: 'y' } } }],
  ])('treats %s as an ordinary name', (_, patch: JsonObject) => {
    const { labels } = patched(patch).metadata as { labels: JsonObject };
    const given = (patch.metadata as { labels: JsonObject }).labels;
    for (const name of Object.keys(given)) {
      expect(Object.getOwnPropertyDescriptor(labels, name)?.value).toBe(given[name]);
    }
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });

  test('refuses patches that are nested too deep', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    expect(patchErrorMessage(() => patched(deep))).toBe('exceeded max depth');
  });
});
