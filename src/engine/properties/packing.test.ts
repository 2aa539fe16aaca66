import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PackingProblem, pack } from '../rules/volume-binding/packing.ts';
import { WorkBudget } from '../rules/volume-binding/work-budget.ts';

const runs = 3_000;
const itemsMax = 5;
const binsMax = 4;

interface Sizes {
  readonly items: readonly number[];
  readonly bins: readonly {
    readonly capacity: number;
    readonly largest: number;
    readonly reach: readonly boolean[];
  }[];
}

/** Tight problems, where first fit often fails. */
const sizes: fc.Arbitrary<Sizes> = fc.record({
  items: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: itemsMax }),
  bins: fc.array(
    fc.record({
      capacity: fc.integer({ min: 0, max: 10 }),
      largest: fc.integer({ min: 2, max: 10 }),
      reach: fc.array(fc.constantFrom(true, true, true, false), { minLength: itemsMax, maxLength: itemsMax }),
    }),
    { maxLength: binsMax },
  ),
});

test('items are packed if possible, each into the first bin that leaves a solution for the following items', () => {
  fc.assert(
    fc.property(sizes, (drawn) => {
      const problem = problemOf(drawn);
      const order = largestFirst(drawn);
      const right = firstPacking(problem, order);
      const found = pack(problem, order);
      if (right === undefined) expect(found).toEqual({ kind: 'impossible' });
      else expect(found).toEqual({ kind: 'packed', binOf: right });
    }),
    { numRuns: runs },
  );
});

test('beyond the limits of the exact search an answer is correct or unknown, never wrong', () => {
  const many = fc.record({
    items: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 9, maxLength: 10 }),
    capacities: fc.array(fc.integer({ min: 4, max: 14 }), { minLength: 2, maxLength: 3 }),
  });
  fc.assert(
    fc.property(many, ({ items, capacities }) => {
      const problem: PackingProblem = {
        itemCount: items.length,
        binCount: capacities.length,
        budget: largeBudget(),
        fits: (bin, chosen) => chosen.reduce((sum, item) => sum + items[item]!, 0) <= capacities[bin]!,
      };
      const order = items.map((_, item) => item).sort((a, b) => items[b]! - items[a]! || a - b);
      const found = pack(problem, order);
      if (found.kind === 'unknown') return;
      expect(found.kind).toBe(firstPacking(problem, order) === undefined ? 'impossible' : 'packed');
      if (found.kind === 'packed') expectFitting(problem, found.binOf);
    }),
    { numRuns: 200 },
  );
});

test('an exhausted budget makes the answer unknown', () => {
  const problem = problemOf({ items: [1], bins: [{ capacity: 1, largest: 2, reach: [true] }] });
  expect(pack({ ...problem, budget: new WorkBudget(1) }, [0])).toEqual({ kind: 'unknown' });
  expect(pack(problem, [0])).toEqual({ kind: 'packed', binOf: [0] });
});

function largeBudget(): WorkBudget {
  return new WorkBudget(1_000_000);
}

function problemOf({ items, bins }: Sizes): PackingProblem {
  return {
    itemCount: items.length,
    binCount: bins.length,
    budget: largeBudget(),
    fits: (bin, chosen) => {
      const { capacity, largest, reach } = bins[bin]!;
      return (
        chosen.every((item) => reach[item] && items[item]! <= largest) &&
        chosen.reduce((sum, item) => sum + items[item]!, 0) <= capacity
      );
    },
  };
}

function largestFirst({ items }: Sizes): number[] {
  return items.map((_, item) => item).sort((a, b) => items[b]! - items[a]! || a - b);
}

/** The first packing that fits, in the order of the items and, for each item, of the bins. */
function firstPacking(
  problem: PackingProblem,
  order: readonly number[],
  contents: readonly (readonly number[])[] = Array.from({ length: problem.binCount }, () => []),
): number[] | undefined {
  const [item, ...rest] = order;
  if (item === undefined) {
    const binOf: number[] = new Array(problem.itemCount).fill(-1);
    for (const [bin, items] of contents.entries()) for (const placed of items) binOf[placed] = bin;
    return binOf;
  }
  for (let bin = 0; bin < problem.binCount; bin++) {
    if (!problem.fits(bin, [...contents[bin]!, item])) continue;
    const filled = contents.map((items, position) => (position === bin ? [...items, item] : items));
    const found = firstPacking(problem, rest, filled);
    if (found !== undefined) return found;
  }
  return undefined;
}

function expectFitting(problem: PackingProblem, binOf: readonly number[]): void {
  for (let bin = 0; bin < problem.binCount; bin++) {
    const items = binOf.flatMap((chosen, item) => (chosen === bin ? [item] : []));
    expect(items.length === 0 || problem.fits(bin, items)).toBe(true);
  }
}
