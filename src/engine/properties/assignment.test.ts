import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignAll } from '../rules/volume-binding/assignment.ts';
import { WorkBudget } from '../rules/volume-binding/work-budget.ts';

const runs = 3_000;
const claimsMax = 5;
const volumesMax = 7;

/** Volumes are numbered in the order of their names. Each has a size, with many ties. */
interface Problem {
  readonly sizes: readonly number[];
  readonly candidates: readonly (readonly number[])[];
}

const problems: fc.Arbitrary<Problem> = fc
  .record({
    sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: volumesMax }),
    accepts: fc.array(fc.array(fc.boolean(), { minLength: volumesMax, maxLength: volumesMax }), {
      minLength: 1,
      maxLength: claimsMax,
    }),
  })
  .map(({ sizes, accepts }) => ({
    sizes,
    candidates: accepts.map((row) => sizes.map((_, volume) => volume).filter((volume) => row[volume])),
  }));

test('an assignment is found if one exists; it is the cheapest, and the first of the cheapest', () => {
  fc.assert(
    fc.property(problems, (problem) => {
      const found = assignAll({
        candidates: problem.candidates,
        compare: (a, b) => compare(problem, a, b),
        isSameSize: (a, b) => problem.sizes[a] === problem.sizes[b],
        budget: new WorkBudget(1_000_000),
      });
      expect(found).toEqual(bestAssignment(problem));
    }),
    { numRuns: runs },
  );
});

test('an exhausted budget ends the search', () => {
  fc.assert(
    fc.property(problems, fc.nat(20), ({ sizes, candidates }, steps) => {
      const budget = new WorkBudget(steps);
      const found = assignAll({
        candidates,
        compare: (a, b) => compare({ sizes, candidates }, a, b),
        isSameSize: (a, b) => sizes[a] === sizes[b],
        budget,
      });
      if (found === undefined) return;
      expect(new Set(found).size).toBe(candidates.length);
      for (const [claim, volume] of found.entries()) expect(candidates[claim]).toContain(volume);
    }),
    { numRuns: runs },
  );
});

function compare({ sizes }: Problem, a: number, b: number): number {
  return sizes[a]! - sizes[b]! || a - b;
}

function bestAssignment(problem: Problem): readonly number[] | undefined {
  const all = [...allAssignments(problem)];
  return all.sort(
    (a, b) => totalOf(problem, a) - totalOf(problem, b) || compareAssignments(problem, a, b),
  )[0];
}

function* allAssignments(
  { sizes, candidates }: Problem,
  chosen: readonly number[] = [],
): Iterable<readonly number[]> {
  const next = candidates[chosen.length];
  if (next === undefined) {
    yield chosen;
    return;
  }
  for (const volume of next)
    if (!chosen.includes(volume)) yield* allAssignments({ sizes, candidates }, [...chosen, volume]);
}

function totalOf({ sizes }: Problem, assignment: readonly number[]): number {
  return assignment.reduce((sum, volume) => sum + sizes[volume]!, 0);
}

function compareAssignments(problem: Problem, a: readonly number[], b: readonly number[]): number {
  for (const [claim, volume] of a.entries()) {
    const difference = compare(problem, volume, b[claim]!);
    if (difference !== 0) return difference;
  }
  return 0;
}
