import { beforeEach, expect, test, vi } from 'vitest';
import { difference, type FieldSet, intersection, unionAll } from './field-set.ts';

const { counted } = vi.hoisted(() => ({ counted: { comparisons: 0 } }));
vi.mock('./path-element.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./path-element.ts')>();
  const compareElements: typeof original.compareElements = (a, b) => {
    counted.comparisons += 1;
    return original.compareElements(a, b);
  };
  return { ...original, compareElements };
});
beforeEach(() => {
  counted.comparisons = 0;
});

function setOf(first: number, count: number): FieldSet {
  const elements = Array.from({ length: count }, (_, index) => [
    `f:a${String(first + index).padStart(6, '0')}`,
    {},
  ]);
  return { 'f:data': Object.fromEntries(elements) as FieldSet };
}

/** A set that counts how many of its elements are listed. */
function countingSet(set: FieldSet): { readonly set: FieldSet; listed: number } {
  const result = { set, listed: 0 };
  const data = new Proxy(set['f:data']!, {
    getOwnPropertyDescriptor(target, element) {
      result.listed += 1;
      return Reflect.getOwnPropertyDescriptor(target, element);
    },
  });
  return Object.assign(result, { set: { 'f:data': data } });
}

test.each([
  ['the difference', difference],
  ['the intersection', intersection],
])('%s of each of many small sets and a large one does not list the large one', (_what, combine) => {
  const large = countingSet(setOf(0, 5_000));
  for (let index = 0; index < 1_000; index++) combine(setOf(index, 1), large.set);
  expect(large.listed).toBe(0);
});

test.each([1_000, 4_000])('the union of %d sets compares each element a few times', (count) => {
  const sets = Array.from({ length: count }, (_, index) => setOf(index, 1));
  expect(unionAll(sets)).toEqual(setOf(0, count));
  expect(counted.comparisons).toBeLessThanOrEqual(count * Math.ceil(Math.log2(count)));
});
