import { describe, expect, test } from 'vitest';
import type { LabelSelector } from '../../kube/api/stored/meta.ts';
import { accessModesCell, age, humanDuration, labelSelectorCell, labelsCell } from './table-cells.ts';

describe('durations are formatted as in kubectl', () => {
  test.each([
    [-3000, '<invalid>'],
    [-2000, '<invalid>'],
    [-1500, '0s'],
    [-1000, '0s'],
    [-500, '0s'],
    [0, '0s'],
    [900, '0s'],
    [1000, '1s'],
    [59000, '59s'],
    [119000, '119s'],
    [120000, '2m'],
    [121000, '2m1s'],
    [180000, '3m'],
    [599000, '9m59s'],
    [600000, '10m'],
    [601000, '10m'],
    [3599000, '59m'],
    [10799000, '179m'],
    [10800000, '3h'],
    [10860000, '3h1m'],
    [28799000, '7h59m'],
    [28800000, '8h'],
    [172799000, '47h'],
    [172800000, '2d'],
    [176400000, '2d1h'],
    [691199000, '7d23h'],
    [691200000, '8d'],
    [63071999000, '729d'],
    [63072000000, '2y'],
    [63158400000, '2y1d'],
    [252287999000, '7y364d'],
    [252288000000, '8y'],
    [1000000000000, '31y'],
  ])('%i ms is %s', (ms, expected) => {
    expect(humanDuration(ms)).toBe(expected);
  });

  test('the age of an object without a creation timestamp is unknown', () => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
    expect(age(object, { nowMs: 0 })).toBe('<unknown>');
    const created = { ...object, metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } };
    expect(age(created, { nowMs: Date.UTC(2026, 0, 1, 3) })).toBe('3h');
  });
});

describe('selectors are formatted as in kubectl', () => {
  test.each<[string, LabelSelector | undefined]>([
    ['<none>', undefined],
    ['<none>', {}],
    ['a=2,b=1', { matchLabels: { a: '2', b: '1' } }],
    [
      '!a,b,c notin (y),z in (x,y)',
      {
        matchExpressions: [
          { key: 'z', operator: 'In', values: ['y', 'x'] },
          { key: 'c', operator: 'NotIn', values: ['y'] },
          { key: 'b', operator: 'Exists' },
          { key: 'a', operator: 'DoesNotExist' },
        ],
      },
    ],
    [
      'k in (v),m=',
      { matchLabels: { m: '' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
    ],
  ])('%s', (expected, selector) => {
    expect(labelSelectorCell(selector)).toBe(expected);
  });
});

test('labels are sorted; no labels are <none>', () => {
  expect(labelsCell({ b: '1', a: '' })).toBe('a=,b=1');
  expect(labelsCell({})).toBe('<none>');
  expect(labelsCell(undefined)).toBe('<none>');
});

test('access modes have short names and a fixed order', () => {
  expect(
    accessModesCell(['ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce', 'ReadWriteOnce']),
  ).toBe('RWO,ROX,RWX,RWOP');
  expect(accessModesCell(undefined)).toBe('');
});
