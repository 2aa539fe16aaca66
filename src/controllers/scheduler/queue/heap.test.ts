import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap, type HeapItem } from './heap.ts';

interface Numbered extends HeapItem {
  readonly rank: number;
}

function heapOf(ranks: readonly number[]): { heap: Heap<Numbered>; items: Numbered[] } {
  const heap = new Heap<Numbered>((a, b) => a.rank < b.rank);
  const items = ranks.map((rank) => ({ rank, slot: 0 }));
  for (const item of items) heap.add(item);
  return { heap, items };
}

function drain(heap: Heap<Numbered>): number[] {
  const ranks: number[] = [];
  for (let first = heap.first; first !== undefined; first = heap.first) {
    heap.delete(first);
    ranks.push(first.rank);
  }
  return ranks;
}

test('a heap returns its items in order, whichever were deleted from its middle', () => {
  const cases = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(cases, (ranked) => {
      const { heap, items } = heapOf(ranked.map(([rank]) => rank));
      const left = items.filter((_, index) => ranked[index]?.[1]);
      for (const item of items) if (!left.includes(item)) heap.delete(item);
      expect(heap.size).toBe(left.length);
      expect(drain(heap)).toEqual(left.map(({ rank }) => rank).sort((a, b) => a - b));
    }),
  );
});

test('the item that replaces a deleted one may move up', () => {
  // The last item, 3, moves to the position of 13: below 10 and 11.
  const { heap, items } = heapOf([0, 10, 1, 11, 12, 20, 2, 13, 14, 15, 16, 21, 22, 23, 3]);
  heap.delete(items[7]!);
  expect(drain(heap)).toEqual([0, 1, 2, 3, 10, 11, 12, 14, 15, 16, 20, 21, 22, 23]);
});

test('an item that is not in the heap cannot be deleted', () => {
  const { heap } = heapOf([1, 2]);
  expect(() => heap.delete({ rank: 1, slot: 0 })).toThrow('an item must be in the heap to be deleted');
});
