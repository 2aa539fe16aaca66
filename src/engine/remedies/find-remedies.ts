import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import { plan } from '../plan.ts';
import { defaultRules } from '../rules/default-rules.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { ClosestNodes } from './closest-nodes.ts';
import { newNodeSteps, onNewNode } from './new-node-steps.ts';
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
  /** The cheapest first. With each of them the pod fits: it has been planned. */
  readonly remedies: readonly Remedy[];
  /** Nodes that were looked at closely, of those that anything could be done about. */
  readonly nodesTried: number;
  readonly nodesPromising: number;
  /** The search ended before it had tried everything on the nodes that it looked at. */
  readonly isCutShort: boolean;
}

const remediesMaxDefault = 8;

interface Pass {
  /** How many steps a remedy may have. */
  readonly stepsMax: number;
  /** How many nodes are looked at, those first that miss least. */
  readonly nodesMax: number;
  /** How many ways are tried to meet one obstacle. */
  readonly stepsPerFindingMax: number;
}

/** Each only where those before it found nothing. Further than the last it is another cluster that is asked for. */
const passes: readonly Pass[] = [
  { stepsMax: 1, nodesMax: 48, stepsPerFindingMax: Number.POSITIVE_INFINITY },
  { stepsMax: 2, nodesMax: 24, stepsPerFindingMax: 3 },
  { stepsMax: 3, nodesMax: 8, stepsPerFindingMax: 2 },
];
const evaluationsMax = 20_000;
/** An explanation of one node walks all volumes, so that there can be fewer where there are many of those. */
const volumeVisitsMax = 3_000_000;
const explanationsMax = 2_000;

/**
 * What would have to change for a refused pod to fit: on the nodes that miss least, every obstacle is met by every change that we know
 * of for it, one after the other, and what then fits is made as small as it can be. Several steps are looked for only where one is not
 * enough, or takes somebody's pod. `nodes` is the refusal's explanation. Leaves the index as it was.
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
  /** As it is now. */
  readonly pod: Pod;
  readonly pass: Omit<Pass, 'nodesMax'>;
  readonly steps: readonly RemedyStep[];
}

/** Meets the first finding in every way; whatever is left is met in turn, while few enough steps have been taken. */
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

/** No fewer: one step may meet several findings of one reason, and removed pods all that are about pods. */
function stepsNeeded(findings: readonly Finding[]): number {
  const reasons = new Set(findings.filter((finding) => !isCausedByPods(finding)).map(({ reason }) => reason));
  // Uncordoning a node lifts the taint that goes with it.
  if (reasons.has('MarkedUnschedulable')) reasons.delete('TaintNotTolerated');
  return reasons.size + (findings.some(isCausedByPods) ? 1 : 0);
}

/** With what was found before, less what the step was taken for; what stands in the way then is asked for only when that is all met. */
function exploreRemaining(whatIf: WhatIf, before: readonly Finding[], path: Path): void {
  const met = before.find((finding) => !isCausedByPods(finding)) ?? before[0]!;
  const rest = before.filter((finding) => !isSame(finding, met));
  if (rest.length === 0) {
    const findings = whatIf.findings();
    if (findings !== undefined && !findings.some((finding) => isSame(finding, met)))
      explore(whatIf, findings, path);
    return;
  }
  const isShared = rest.some(({ reason }) => reason === met.reason);
  if (isShared || !whatIf.refusesFor(met)) explore(whatIf, rest, path);
}

function isSame(a: Finding, b: Finding): boolean {
  if (a.reason !== b.reason || a.claim !== b.claim) return false;
  const resource = ({ margin }: Finding) => (margin?.unit === 'resource' ? margin.resource : '');
  return resource(a) === resource(b);
}

/** Most nodes offer what another one offered before, and no smaller; that is found out with less asking than how small it could be. */
function addSmallest(whatIf: WhatIf, steps: readonly RemedyStep[], found: RemedyCollection): void {
  const remedy = { node: whatIf.node, steps };
  const known = found.smallestLike(remedy);
  const fits = (asked: readonly RemedyStep[]) => whatIf.withSteps(asked, (after) => after.fits());
  if (known === undefined || canBeSmaller(remedy, known, fits)) found.add(smallestOf(whatIf, steps));
}

/** Each step as small as the others let it be. */
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

function tryNewNodes(whatIf: WhatIf, found: RemedyCollection): void {
  const there = onNewNode(whatIf);
  for (const step of newNodeSteps(whatIf)) {
    if (!there.withSteps([step], (after) => after.fits())) continue;
    found.add({ node: there.node, steps: [step] });
    return;
  }
}

/** The whole cluster is planned once more; nothing is told that hasn't been seen to work. */
function isProven(whatIf: WhatIf, steps: readonly RemedyStep[]): boolean {
  const { index, nowMs, rules } = whatIf.context;
  return whatIf.withSteps(steps, ({ pod }) => plan(pod, index, { nowMs, rules }).kind === 'placement');
}
