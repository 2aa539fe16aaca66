import { expect, test } from 'vitest';
import { assert, InvariantError, unreachable } from './assert.ts';

test('an invariant that holds passes, and narrows the type', () => {
  const found = [1, 2, 3].find((number) => number === 2);
  assert(found !== undefined, 'two is there');
  const narrowed: number = found;
  expect(narrowed).toBe(2);
});

test('a broken invariant throws an error that names itself and says what is broken', () => {
  const check = () => assert([].length === 1, 'the ledger adds up');
  expect(check).toThrow(InvariantError);
  expect(check).toThrow('the ledger adds up');
  expect(new InvariantError('x').name).toBe('InvariantError');
});

test('a case that the types ruled out throws with the unexpected value', () => {
  const fromOutside = { kind: 'surprise' } as never;
  expect(() => unreachable(fromOutside)).toThrow('unhandled case: {"kind":"surprise"}');
});
