import { actionCosts, type RemedyStep, stepCost } from './remedy-step.ts';

/** Changes that together make the pod fit on a node. */
export interface Remedy {
  readonly node: string;
  readonly steps: readonly RemedyStep[];
}

/** The smallest remedy found for each combination of actions. */
export class RemedyCollection {
  readonly #byKinds = new Map<string, Remedy>();

  add(remedy: Remedy): void {
    const known = this.smallestLike(remedy);
    if (known === undefined || compareRemedies(remedy, known) < 0) this.#byKinds.set(keyOf(remedy), remedy);
  }

  /** The smallest remedy so far with the same actions and scopes. */
  smallestLike(remedy: Remedy): Remedy | undefined {
    return this.#byKinds.get(keyOf(remedy));
  }

  /** Whether any remedy was found that removes no running pod. */
  get hasNonDisruptive(): boolean {
    return [...this.#byKinds.values()].some((remedy) => remedyCost(remedy) < actionCosts.RemovePods);
  }

  /** The cheapest first, without remedies that contain all actions of another one. A new node replaces a large growth of an existing one. */
  best(max: number): readonly Remedy[] {
    const known = [...this.#byKinds.values()];
    const hasNewNode = known.some(({ steps }) => steps.some(({ action }) => action === 'CreateNode'));
    const all = hasNewNode ? known.filter(({ steps }) => !steps.some(isLargeGrowth)) : known;
    return all
      .filter((remedy) => !all.some((other) => isPartOf(other, remedy)))
      .sort(compareRemedies)
      .slice(0, max);
  }
}

/** People add a node rather than give an existing one half as much again. The kubelet's limit of pods is only a setting. */
function isLargeGrowth({ action, scope, amount, from = 0 }: RemedyStep): boolean {
  return action === 'GrowNode' && scope !== 'pods' && amount > from / 2;
}

/**
 * Whether a remedy with the same actions could still become smaller than `known`. `fits` says whether the given amounts are enough.
 * Amounts are compared one after the other. So the remedy can become smaller if one amount can be less while those before it are as in
 * `known`. Remedies that remove pods are always tried, because the number of removed pods counts first.
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

/** The step with at most that amount; undefined if it can't be that small. */
function atMost(step: RemedyStep, amount: number): RemedyStep | undefined {
  if (step.amount <= amount) return step;
  return amount < 1 ? undefined : step.withAmount?.(amount);
}

/** The sum of the costs of its steps; see {@link actionCosts}. */
export function remedyCost({ steps }: Remedy): number {
  return steps.reduce((sum, step) => sum + stepCost(step), 0);
}

function compareRemedies(a: Remedy, b: Remedy): number {
  return (
    remedyCost(a) - remedyCost(b) ||
    compareTexts(kindsOf(a).join(), kindsOf(b).join()) ||
    compareAmounts(a, b) ||
    compareTexts(a.node, b.node)
  );
}

/** Compares steps of the same kind: both lists are in the order of their kinds. */
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
  return [...steps].sort((a, b) => compareTexts(kindOf(a), kindOf(b)));
}

function keyOf(remedy: Remedy): string {
  return kindsOf(remedy).join(' + ');
}

function kindsOf(remedy: Remedy): string[] {
  return inOrder(remedy).map(kindOf);
}

function kindOf({ action, scope }: RemedyStep): string {
  return `${action} ${scope}`;
}

function isPartOf(part: Remedy, whole: Remedy): boolean {
  if (part.steps.length >= whole.steps.length) return false;
  const rest = kindsOf(whole);
  return kindsOf(part).every((kind) => {
    const at = rest.indexOf(kind);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
