import { actionCosts, type RemedyStep, stepCost } from './remedy-step.ts';

/** Changes with which the pod fits on a node, taken together. */
export interface Remedy {
  readonly node: string;
  readonly steps: readonly RemedyStep[];
}

/** Of each sort of remedy the smallest that was found. */
export class RemedyCollection {
  readonly #bySort = new Map<string, Remedy>();

  add(remedy: Remedy): void {
    const known = this.smallestLike(remedy);
    if (known === undefined || compareRemedies(remedy, known) < 0) this.#bySort.set(keyOf(remedy), remedy);
  }

  /** The smallest of its sort so far. */
  smallestLike(remedy: Remedy): Remedy | undefined {
    return this.#bySort.get(keyOf(remedy));
  }

  /** Whether anything was found that costs nobody a running pod. */
  get hasNonDisruptive(): boolean {
    return [...this.#bySort.values()].some((remedy) => remedyCost(remedy) < actionCosts.RemovePods);
  }

  /** The cheapest first; none that does more than another one that is there. */
  best(max: number): readonly Remedy[] {
    const all = [...this.#bySort.values()];
    return all
      .filter((remedy) => !all.some((other) => isPartOf(other, remedy)))
      .sort(compareRemedies)
      .slice(0, max);
  }
}

/**
 * Whether a remedy of the same sorts could still be made smaller than `known`, where `fits` says whether given amounts of its steps would
 * do. Amounts are held against each other one after the other, so it can if, with those before as in `known`, one could be less. Removed
 * pods count first whatever their place; those are not judged.
 */
export function canBeSmaller(
  remedy: Remedy,
  known: Remedy,
  fits: (steps: readonly RemedyStep[]) => boolean,
): boolean {
  if (remedy.steps.some(({ action }) => action === 'RemovePods')) return true;
  const wanted = inOrder(known).map(({ amount }) => amount);
  let current = inOrder(remedy);
  for (const [at, step] of current.entries()) {
    const isLess = atMost(step, wanted[at]! - 1);
    if (isLess !== undefined && fits(current.with(at, isLess))) return true;
    const isSame = atMost(step, wanted[at]!);
    if (isSame === undefined) return false;
    current = current.with(at, isSame);
  }
  return remedy.node < known.node && fits(current);
}

/** The step with that amount, or with its own where it is no more; undefined where it can't be that small. */
function atMost(step: RemedyStep, amount: number): RemedyStep | undefined {
  if (step.amount <= amount) return step;
  return amount < 1 ? undefined : step.withAmount?.(amount);
}

/** What it costs, as {@link actionCosts} says. */
export function remedyCost({ steps }: Remedy): number {
  return steps.reduce((sum, step) => sum + stepCost(step), 0);
}

function compareRemedies(a: Remedy, b: Remedy): number {
  return (
    remedyCost(a) - remedyCost(b) ||
    compareTexts(sortsOf(a).join(), sortsOf(b).join()) ||
    compareAmounts(a, b) ||
    compareTexts(a.node, b.node)
  );
}

/** In the order of their sorts, so that equal sorts are held against each other. */
function compareAmounts(a: Remedy, b: Remedy): number {
  const left = inOrder(a);
  const right = inOrder(b);
  for (const [at, { amount }] of left.entries()) {
    const difference = amount - (right[at]?.amount ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function inOrder({ steps }: Remedy): RemedyStep[] {
  return [...steps].sort((a, b) => compareTexts(sortOf(a), sortOf(b)));
}

function keyOf(remedy: Remedy): string {
  return sortsOf(remedy).join(' + ');
}

function sortsOf(remedy: Remedy): string[] {
  return inOrder(remedy).map(sortOf);
}

function sortOf({ action, scope }: RemedyStep): string {
  return `${action} ${scope}`;
}

function isPartOf(part: Remedy, whole: Remedy): boolean {
  if (part.steps.length >= whole.steps.length) return false;
  const rest = sortsOf(whole);
  return sortsOf(part).every((sort) => {
    const at = rest.indexOf(sort);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
