import { describe, expect, test } from 'vitest';
import type { Condition } from './api/meta.ts';
import { getCondition, setCondition } from './conditions.ts';

const before = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:01:00Z';
const ready: Condition = { type: 'Ready', status: 'True', reason: 'Fine', lastTransitionTime: before };
const bound: Condition = { type: 'Bound', status: 'False', lastTransitionTime: before };

describe('setting a condition', () => {
  test('appends the first of its type with the current time', () => {
    expect(setCondition([bound], { type: 'Ready', status: 'True' }, now)).toEqual([
      bound,
      { type: 'Ready', status: 'True', lastTransitionTime: now },
    ]);
    expect(setCondition(undefined, { type: 'Ready', status: 'True' }, now)).toHaveLength(1);
  });

  test('keeps lastTransitionTime while the status stays', () => {
    const next: Condition = { type: 'Ready', status: 'True', reason: 'Better' };
    expect(setCondition([ready, bound], next, now)).toEqual([{ ...next, lastTransitionTime: before }, bound]);
  });

  test('changes lastTransitionTime with the status', () => {
    const next: Condition = { type: 'Ready', status: 'False', reason: 'Broken' };
    expect(setCondition([ready], next, now)).toEqual([{ ...next, lastTransitionTime: now }]);
  });

  test('uses the given lastTransitionTime, and only when the status changes', () => {
    const given = '2026-01-01T00:00:30Z';
    const [moved] = setCondition([ready], { type: 'Ready', status: 'False', lastTransitionTime: given }, now);
    const [kept] = setCondition([ready], { type: 'Ready', status: 'True', lastTransitionTime: given }, now);
    expect([moved?.lastTransitionTime, kept?.lastTransitionTime]).toEqual([given, before]);
  });

  test('drops a reason that no longer holds', () => {
    expect(setCondition([ready], { type: 'Ready', status: 'True' }, now)).toEqual([
      { type: 'Ready', status: 'True', lastTransitionTime: before },
    ]);
  });

  test('returns the same list if nothing changes', () => {
    const conditions = [bound, ready];
    expect(setCondition(conditions, { type: 'Ready', status: 'True', reason: 'Fine' }, now)).toBe(conditions);
  });

  test('does not change the given list', () => {
    const conditions = Object.freeze([Object.freeze({ ...ready })]);
    expect(setCondition(conditions, { type: 'Ready', status: 'False' }, now)).not.toBe(conditions);
    expect(conditions[0]?.status).toBe('True');
  });
});

test('getting a condition finds it by its type, among entries of any kind', () => {
  const conditions = [null, 'Ready', bound, ready] as unknown as readonly Condition[];
  expect(getCondition(conditions, 'Ready')).toBe(ready);
  expect(getCondition(conditions, 'Lost')).toBeUndefined();
  expect(getCondition(undefined, 'Ready')).toBeUndefined();
});
