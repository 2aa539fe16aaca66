import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import { plan } from '../plan.ts';
import { defaultRules } from '../rules/default-rules.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { ClosestNodes } from './closest-nodes.ts';
import { largerNodeSteps, newNodeSteps, onNewNode } from './new-node-steps.ts';
import { canBeSmaller, type Remedy, RemedyCollection } from './remedy-collection.ts';
import type { ObjectSource, RemedyStep } from './remedy-step.ts';
import { smallestEnough } from './smallest-amount.ts';
import { hasNoRemedy, isCausedByPods, stepsFor } from './step-generators.ts';
import { type SearchBudget, type SearchContext, WhatIf } from './what-if.ts';

export interface RemedyOptions {
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[];
  readonly objects: ObjectSource;
  readonly remediesMax?: number;
}

export interface RemedySearch {
  /** The cheapest first. A plan has proven that the pod fits with each of them. */
  readonly remedies: readonly Remedy[];
  /** How many of the nodes with known steps the search tried. */
  readonly nodesTried: number;
  readonly nodesPromising: number;
  /** The budget was spent before the search had tried everything on these nodes. */
  readonly isCutShort: boolean;
}

const remediesMaxDefault = 8;

interface Pass {
  /** The maximum number of steps of a remedy. */
  readonly stepsMax: number;
  /** How many nodes are tried, the closest first. */
  readonly nodesMax: number;
  /** How many steps are tried for one finding. */
  readonly stepsPerFindingMax: number;
}

/** A pass runs only if those before it found nothing. A remedy with more steps than in the last pass would be a different cluster. */
const passes: readonly Pass[] = [
  { stepsMax: 1, nodesMax: 48, stepsPerFindingMax: Number.POSITIVE_INFINITY },
  { stepsMax: 2, nodesMax: 24, stepsPerFindingMax: 3 },
  { stepsMax: 3, nodesMax: 8, stepsPerFindingMax: 2 },
];
const evaluationsMax = 20_000;
/** The explanation of one node visits all volumes, so a cluster with many volumes affords fewer explanations. */
const volumeVisitsMax = 3_000_000;
const explanationsMax = 2_000;

/**
 * Finds the changes that would let a refused pod fit. On the closest nodes the search tries every known step for every finding, one after
 * the other, and reduces what fits to the smallest amounts. It looks for several steps only if a single step is not enough or removes a
 * pod. `nodes` is the refusal's explanation. Leaves the index as it was.
 */
export function findRemedies(
  pod: Pod,
  index: ClusterIndex,
  nodes: readonly NodeExplanation[],
  options: RemedyOptions,
): RemedySearch {
  const { nowMs, rules = defaultRules, objects } = options;
  const budget = budgetFor(index);
  const context: SearchContext = { index, objects, nowMs, rules, budget, records: new WeakMap() };
  const promising = nodes.filter(({ findings }) => findings.length > 0 && !findings.some(hasNoRemedy));
  const closeness = new ClosestNodes(promising);
  const found = new RemedyCollection();
  let nodesTried = 0;
  for (const { nodesMax, ...pass } of passes) {
    const close = closeness.take(nodesMax);
    for (const { node, findings } of close)
      explore(new WhatIf(context, node, pod), findings, { found, pod, pass, steps: [] });
    nodesTried = Math.max(nodesTried, close.length);
    if (found.hasNonDisruptive) break;
  }
  tryNewNodes(new WhatIf(context, '', pod), found);
  const remedies = found
    .best(options.remediesMax ?? remediesMaxDefault)
    .filter(({ node, steps }) => isProven(new WhatIf(context, node, pod), steps));
  return {
    remedies,
    nodesTried,
    nodesPromising: promising.length,
    isCutShort: budget.evaluations <= 0 || budget.explanations <= 0,
  };
}

function budgetFor({ volumes }: ClusterIndex): SearchBudget {
  const affordable = Math.floor(volumeVisitsMax / (volumes.size + 1));
  return { evaluations: evaluationsMax, explanations: Math.min(explanationsMax, Math.max(8, affordable)) };
}

interface Path {
  readonly found: RemedyCollection;
  /** The pod before any step. */
  readonly pod: Pod;
  readonly pass: Omit<Pass, 'nodesMax'>;
  readonly steps: readonly RemedyStep[];
}

/** Tries every step for the first finding, then handles the remaining findings while the number of steps allows it. */
function explore(whatIf: WhatIf, findings: readonly Finding[], path: Path): void {
  const { steps, pass } = path;
  const first = findings.find((finding) => !isCausedByPods(finding)) ?? findings[0];
  if (first === undefined || findings.some(hasNoRemedy)) return;
  if (steps.length + stepsNeeded(findings) > pass.stepsMax) return;
  for (const option of stepsFor(whatIf, first).slice(0, pass.stepsPerFindingMax)) {
    const taken = [...steps, option];
    const fits = whatIf.withSteps([option], (after) => {
      if (after.fits()) return true;
      if (taken.length < pass.stepsMax && option.action !== 'RemovePods')
        exploreRemaining(after, findings, { ...path, steps: taken });
      return false;
    });
    if (fits) addSmallest(new WhatIf(whatIf.context, whatIf.node, path.pod), taken, path.found);
  }
}

/** A lower bound: one step may resolve all findings of one reason, and removing pods all findings that pods cause. */
function stepsNeeded(findings: readonly Finding[]): number {
  const reasons = new Set(findings.filter((finding) => !isCausedByPods(finding)).map(({ reason }) => reason));
  // Uncordoning a node also removes its taint.
  if (reasons.has('MarkedUnschedulable')) reasons.delete('TaintNotTolerated');
  return reasons.size + (findings.some(isCausedByPods) ? 1 : 0);
}

/** Continues with the earlier findings, without the one that the step resolved. It asks for new findings only when none of them is left. */
function exploreRemaining(whatIf: WhatIf, before: readonly Finding[], path: Path): void {
  const resolved = before.find((finding) => !isCausedByPods(finding)) ?? before[0]!;
  const rest = before.filter((finding) => !isSame(finding, resolved));
  if (rest.length === 0) {
    const findings = whatIf.findings();
    if (findings !== undefined && !findings.some((finding) => isSame(finding, resolved)))
      explore(whatIf, findings, path);
    return;
  }
  const isShared = rest.some(({ reason }) => reason === resolved.reason);
  if (isShared || !whatIf.refusesFor(resolved)) explore(whatIf, rest, path);
}

function isSame(a: Finding, b: Finding): boolean {
  if (a.reason !== b.reason || a.claim !== b.claim) return false;
  const resource = ({ margin }: Finding) => (margin?.unit === 'resource' ? margin.resource : '');
  return resource(a) === resource(b);
}

/** Most nodes repeat a remedy of another node, no smaller. Checking that costs fewer evaluations than finding the smallest amounts. */
function addSmallest(whatIf: WhatIf, steps: readonly RemedyStep[], found: RemedyCollection): void {
  const remedy = { node: whatIf.node, steps };
  const known = found.smallestLike(remedy);
  const fits = (asked: readonly RemedyStep[]) => whatIf.withSteps(asked, (after) => after.fits());
  if (known === undefined || canBeSmaller(remedy, known, fits)) found.add(smallestOf(whatIf, steps));
}

/** Reduces each step to the smallest amount that fits together with the others. */
function smallestOf(whatIf: WhatIf, steps: readonly RemedyStep[]): Remedy {
  let current = steps;
  for (const [position, { withAmount, amount }] of steps.entries()) {
    if (withAmount === undefined) continue;
    const withThis = (other: number) =>
      current.map((step, at) => (at === position ? withAmount(other) : step));
    const least = smallestEnough(1, amount, (other) =>
      whatIf.withSteps(withThis(other), (after) => after.fits()),
    );
    current = withThis(least);
  }
  return { node: whatIf.node, steps: current };
}

/** A node of a size that does not exist yet is proposed only if none of the existing sizes is enough. */
function tryNewNodes(whatIf: WhatIf, found: RemedyCollection): void {
  const there = onNewNode(whatIf);
  for (const step of [...newNodeSteps(whatIf), ...largerNodeSteps(whatIf)]) {
    if (!there.withSteps([step], (after) => after.fits())) continue;
    found.add({ node: there.node, steps: [step] });
    return;
  }
}

/** Plans the whole cluster with the steps, so that only remedies that work are reported. */
function isProven(whatIf: WhatIf, steps: readonly RemedyStep[]): boolean {
  const { index, nowMs, rules } = whatIf.context;
  return whatIf.withSteps(steps, ({ pod }) => plan(pod, index, { nowMs, rules }).kind === 'placement');
}
