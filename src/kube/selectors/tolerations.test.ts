import { describe, expect, test } from 'vitest';
import type { Taint, Toleration } from '../api/core.ts';
import { findUntoleratedTaint, toleratesTaint } from './tolerations.ts';

const taint: Taint = { key: 'disk', value: '5', effect: 'NoSchedule' };

describe('a toleration', () => {
  test.each<[string, Toleration, boolean]>([
    [
      'of the same key, value and effect',
      { key: 'disk', operator: 'Equal', value: '5', effect: 'NoSchedule' },
      true,
    ],
    ['of another value', { key: 'disk', operator: 'Equal', value: '6', effect: 'NoSchedule' }, false],
    ['of another key', { key: 'cpu', operator: 'Exists' }, false],
    ['of another effect', { key: 'disk', operator: 'Exists', effect: 'NoExecute' }, false],
    ['without an operator compares values', { key: 'disk', value: '5' }, true],
    ['without a value means the empty value', { key: 'disk' }, false],
    ['that exists ignores the value', { key: 'disk', operator: 'Exists' }, true],
    ['without a key takes any key', { operator: 'Exists' }, true],
    ['without a key still compares values', { operator: 'Equal', value: '5' }, true],
    ['with an empty effect takes any effect', { key: 'disk', operator: 'Exists', effect: '' }, true],
    ['of an unknown operator', { key: 'disk', operator: 'Like' } as unknown as Toleration, false],
    ['that compares, while comparisons are off', { key: 'disk', operator: 'Gt', value: '4' }, false],
  ])('%s', (_name, toleration, expected) => {
    expect(toleratesTaint(toleration, taint)).toBe(expected);
  });

  test.each([
    ['Gt', '4', true],
    ['Gt', '5', false],
    ['Lt', '6', true],
    ['Lt', '5', false],
    ['Gt', '-1', true],
    ['Gt', '04', false],
    ['Gt', '+4', false],
    ['Gt', '-0', false],
    ['Gt', 'four', false],
    ['Lt', '9223372036854775808', false],
  ] as const)('of %s %s for a taint of 5: %s', (operator, value, expected) => {
    const toleration: Toleration = { key: 'disk', operator, value };
    expect(toleratesTaint(toleration, taint, { comparisonOperators: true })).toBe(expected);
  });
});

describe('the first untolerated taint', () => {
  const taints: readonly Taint[] = [
    { key: 'soft', effect: 'PreferNoSchedule' },
    { key: 'disk', effect: 'NoSchedule' },
    { key: 'gone', effect: 'NoExecute' },
  ];

  test.each<[string, readonly Toleration[] | undefined, string | undefined]>([
    ['without tolerations', undefined, 'disk'],
    ['with the first tolerated', [{ key: 'disk', operator: 'Exists' }], 'gone'],
    ['with all tolerated', [{ operator: 'Exists' }], undefined],
  ])('%s', (_name, tolerations, expected) => {
    expect(findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute'])?.key).toBe(expected);
  });

  test('is searched for among the given effects only', () => {
    expect(findUntoleratedTaint(taints, [], ['PreferNoSchedule'])?.key).toBe('soft');
    expect(findUntoleratedTaint(taints, [], [])).toBeUndefined();
  });

  test('does not exist on a node without taints', () => {
    expect(findUntoleratedTaint(undefined, undefined, ['NoSchedule'])).toBeUndefined();
  });
});
