import type { WorkBudget } from './work-budget.ts';

/**
 * Assigns distinct volumes to claims, exactly: it finds an assignment whenever one exists, and the total size is minimal.
 *
 * The cost of an assignment depends only on which volumes are used, not on which claim gets which volume. Sets of volumes that can be
 * matched at the same time form a matroid. So visiting volumes from the smallest, and keeping each that can still be matched together with
 * those kept before, ends in a cheapest set. It forms no sums: sizes are only compared, and stay exact.
 */
export interface AssignmentProblem {
  /** For each claim, in the order that breaks ties, the volumes that it accepts. */
  readonly candidates: readonly (readonly number[])[];
  /** A total order of volumes: smaller first, then by name. */
  compare(a: number, b: number): number;
  isSameSize(a: number, b: number): boolean;
  readonly budget: WorkBudget;
}

/** If a pod has more claims than this, the matching decides among equally cheap assignments. */
const tieBreakClaimsMax = 8;

/**
 * The volume of each claim; undefined if not all can be served. Among the cheapest, the one whose first claim gets the
 * smallest volume, then the second, and so on.
 */
export function assignAll(problem: AssignmentProblem): number[] | undefined {
  const cheapest = cheapestAssignment(problem);
  if (cheapest === undefined || problem.candidates.length > tieBreakClaimsMax) return cheapest;
  return firstInOrder(problem, cheapest);
}

function cheapestAssignment(problem: AssignmentProblem): number[] | undefined {
  const { candidates, compare } = problem;
  if (candidates.some((volumes) => volumes.length === 0)) return undefined;
  const volumes = [...new Set(candidates.flat())].sort(compare);
  const matching = new Matching(problem);
  for (const volume of volumes) {
    if (matching.size === candidates.length) break;
    matching.tryUse(volume);
  }
  return matching.size < candidates.length ? undefined : matching.volumeOf;
}

/** A matching that grows by augmenting paths from the volumes' side. */
class Matching {
  readonly volumeOf: number[];
  size = 0;
  readonly #problem: AssignmentProblem;
  readonly #accepting = new Map<number, number[]>();

  constructor(problem: AssignmentProblem) {
    this.#problem = problem;
    this.volumeOf = new Array(problem.candidates.length).fill(-1);
    for (const [claim, volumes] of problem.candidates.entries()) {
      for (const volume of volumes) {
        const claims = this.#accepting.get(volume);
        if (claims === undefined) this.#accepting.set(volume, [claim]);
        else claims.push(claim);
      }
    }
  }

  tryUse(volume: number): void {
    if (this.#augment(volume, new Set())) this.size += 1;
  }

  /** Finds a claim for the volume, and moves other claims to other volumes that are already in use. The depth is at most the number of claims. */
  #augment(volume: number, seen: Set<number>): boolean {
    const claims = this.#accepting.get(volume) ?? [];
    if (!this.#problem.budget.spend(claims.length)) return false;
    for (const claim of claims) {
      if (this.volumeOf[claim] === -1) {
        this.volumeOf[claim] = volume;
        return true;
      }
    }
    for (const claim of claims) {
      if (seen.has(claim)) continue;
      seen.add(claim);
      const displaced = this.volumeOf[claim]!;
      this.volumeOf[claim] = volume;
      if (this.#augment(displaced, seen)) return true;
      this.volumeOf[claim] = displaced;
    }
    return false;
  }
}

/**
 * Fixes the claims one by one, each on its smallest volume with which the assignment stays cheapest. All cheapest sets of a matroid have
 * the same sizes, so a comparison of sorted sizes decides, without sums.
 */
function firstInOrder(problem: AssignmentProblem, cheapest: readonly number[]): number[] {
  const { candidates, compare, budget } = problem;
  let result = [...cheapest];
  for (let claim = 0; claim < candidates.length; claim++) {
    for (const volume of [...candidates[claim]!].sort(compare)) {
      if (volume === result[claim] || !budget.spend(1)) break;
      const fixed = candidates.map((others, other) =>
        other < claim ? [result[other]!] : other === claim ? [volume] : others,
      );
      const attempt = cheapestAssignment({ ...problem, candidates: fixed });
      if (attempt === undefined || !haveSameSizes(problem, attempt, cheapest)) continue;
      result = attempt;
      break;
    }
  }
  return result;
}

function haveSameSizes(
  { compare, isSameSize }: AssignmentProblem,
  a: readonly number[],
  b: readonly number[],
): boolean {
  const left = [...a].sort(compare);
  const right = [...b].sort(compare);
  return left.every((volume, position) => isSameSize(volume, right[position]!));
}
