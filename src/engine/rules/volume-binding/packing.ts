import type { WorkBudget } from './work-budget.ts';

/**
 * Puts items into bins, exactly: the claims that need new volumes into the pools that a node reaches.
 *
 * The content of a bin is not a plain sum (classes may share a pool at different costs, a driver may create one volume at a time). So the
 * caller says which sets of items fit a bin. A set that fits must still fit without any one of its items.
 */
export interface PackingProblem {
  readonly itemCount: number;
  readonly binCount: number;
  fits(bin: number, items: readonly number[]): boolean;
  /** The bins for an item in the order in which they are tried, beside what is in them; by default in their own order. */
  binsFor?(item: number, contents: readonly (readonly number[])[]): readonly number[];
  readonly budget: WorkBudget;
}

export type Packing =
  | { readonly kind: 'packed'; readonly binOf: readonly number[] }
  | { readonly kind: 'impossible' }
  /** Too large for the exact search, and first-fit found nothing. */
  | { readonly kind: 'unknown' };

/** Up to this many items and bins the search is exhaustive, if the budget allows it: 2^8 sets of items for each bin. */
export const exactItemsMax = 8;
const exactBinsMax = 32;

const impossible: Packing = { kind: 'impossible' };
const unknown: Packing = { kind: 'unknown' };

/** The cost of checking whether a set fits a bin, in steps. */
const fitCost = 20;

/**
 * `order` lists the items, largest first. The answer is the first in this order: the first item gets the first bin with which the other
 * items still fit, and so on.
 */
export function pack(problem: PackingProblem, order: readonly number[]): Packing {
  if (order.length === 0) return { kind: 'packed', binOf: [] };
  if (!problem.budget.spend(order.length * problem.binCount * fitCost)) return unknown;
  if (!eachFitsAlone(problem, order)) return impossible;
  const quick = packFirstFit(problem, order);
  if (quick !== undefined) return { kind: 'packed', binOf: quick };
  if (problem.itemCount > exactItemsMax || problem.binCount > exactBinsMax) return unknown;
  // The search checks every set of items for each bin, and every division of each set.
  const cost = problem.binCount * (2 ** order.length * fitCost + 3 ** order.length / 8);
  return problem.budget.spend(cost) ? packExactly(problem, order) : unknown;
}

function eachFitsAlone(problem: PackingProblem, order: readonly number[]): boolean {
  return order.every((item) => {
    for (let bin = 0; bin < problem.binCount; bin++) if (problem.fits(bin, [item])) return true;
    return false;
  });
}

/** First-fit decreasing: each item goes into the first bin that it still fits. */
function packFirstFit(problem: PackingProblem, order: readonly number[]): number[] | undefined {
  const contents: number[][] = Array.from({ length: problem.binCount }, () => []);
  const binOf: number[] = new Array(problem.itemCount).fill(-1);
  for (const item of order) {
    const bin = binsFor(problem, item, contents).find((candidate) =>
      problem.fits(candidate, [...contents[candidate]!, item]),
    );
    if (bin === undefined) return undefined;
    contents[bin]!.push(item);
    binOf[item] = bin;
  }
  return binOf;
}

function binsFor(
  problem: PackingProblem,
  item: number,
  contents: readonly (readonly number[])[],
): readonly number[] {
  return problem.binsFor?.(item, contents) ?? contents.map((_, bin) => bin);
}

/**
 * Works on sets of items as bit masks. `placeable[b][set]` says whether bins b, b+1, ... together hold the set; the answer follows from
 * it item by item. At most 3^8 steps for each bin.
 */
function packExactly(problem: PackingProblem, order: readonly number[]): Packing {
  const full = (1 << order.length) - 1;
  const fitting = Array.from({ length: problem.binCount }, (_, bin) => fittingSets(problem, bin, order));
  const placeable: Uint8Array[] = [];
  let next: Uint8Array = new Uint8Array(full + 1);
  next[0] = 1;
  for (let bin = problem.binCount - 1; bin >= 0; bin--) {
    next = extended(fitting[bin]!, next);
    placeable[bin] = next;
  }
  if (placeable[0]![full] === 0) return impossible;
  return { kind: 'packed', binOf: readOff(problem, order, fitting) };
}

function fittingSets(problem: PackingProblem, bin: number, order: readonly number[]): Uint8Array {
  const sets = new Uint8Array(1 << order.length);
  for (let set = 0; set < sets.length; set++) {
    const items = order.filter((_, position) => (set & (1 << position)) !== 0);
    sets[set] = items.length === 0 || problem.fits(bin, items) ? 1 : 0;
  }
  return sets;
}

/** The sets that one more bin makes placeable. */
function extended(fitting: Uint8Array, rest: Uint8Array): Uint8Array {
  const result = new Uint8Array(rest.length);
  for (let set = 0; set < rest.length; set++) {
    for (let part = set; ; part = (part - 1) & set) {
      if (fitting[part] === 1 && rest[set ^ part] === 1) {
        result[set] = 1;
        break;
      }
      if (part === 0) break;
    }
  }
  return result;
}

/** Fixes the items one by one, each in the first bin with which the others can still be placed. */
function readOff(
  problem: PackingProblem,
  order: readonly number[],
  fitting: readonly Uint8Array[],
): number[] {
  const full = (1 << order.length) - 1;
  const fixed = new Int32Array(problem.binCount);
  const contents: number[][] = Array.from({ length: problem.binCount }, () => []);
  const binOf: number[] = new Array(problem.itemCount).fill(-1);
  for (let position = 0; position < order.length; position++) {
    const bit = 1 << position;
    const item = order[position]!;
    const bin = binsFor(problem, item, contents).find((candidate) => {
      fixed[candidate]! |= bit;
      const works = canComplete(fitting, fixed, full & ~((bit << 1) - 1));
      if (!works) fixed[candidate]! &= ~bit;
      return works;
    })!;
    contents[bin]!.push(item);
    binOf[item] = bin;
  }
  return binOf;
}

/** Whether the items of `open` can join those already fixed in each bin. */
function canComplete(fitting: readonly Uint8Array[], fixed: Int32Array, open: number): boolean {
  let reachable = new Set([open]);
  for (let bin = 0; bin < fitting.length; bin++) {
    const next = new Set<number>();
    for (const set of reachable) {
      for (let part = set; ; part = (part - 1) & set) {
        if (fitting[bin]![part | fixed[bin]!] === 1) next.add(set ^ part);
        if (part === 0) break;
      }
    }
    reachable = next;
  }
  return reachable.has(0);
}
