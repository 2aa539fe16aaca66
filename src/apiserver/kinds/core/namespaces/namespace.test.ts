import { describe, expect, test } from 'vitest';
import { normalize } from '../../../schema/normalize.ts';
import { namespaceKind } from './namespace.ts';

describe('a namespace', () => {
  const namespaceOf = (finalizers: string[]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a' },
    spec: { finalizers },
    status: { phase: 'Active' },
  });

  test('becomes Terminating when its deletion begins', () => {
    const namespace = namespaceOf(['kubernetes']);
    namespaceKind.beginDeletion?.(namespace);
    expect(namespace.status.phase).toBe('Terminating');
  });

  test('is kept while spec.finalizers is not empty', () => {
    expect(namespaceKind.blocksRemoval?.(namespaceOf(['kubernetes']))).toBe(true);
    expect(namespaceKind.blocksRemoval?.(namespaceOf([]))).toBe(false);
  });

  test('gets its name label even if the server generated the name', () => {
    const namespace = normalize(namespaceKind.type, { metadata: { name: 'a-x7f2k' } }).object;
    namespaceKind.prepareCreate?.(namespace as never, { nowMs: 0 });
    expect(namespace.metadata).toEqual({
      name: 'a-x7f2k',
      labels: { 'kubernetes.io/metadata.name': 'a-x7f2k' },
    });
  });
});
