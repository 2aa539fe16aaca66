import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import { plan } from '../plan.ts';
import { defaultRules } from '../rules/default-rules.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { Closeness } from './closest-nodes.ts';
import { newNodeSteps, onNewNode } from './new-node-steps.ts';
import { Collection, canBeSmaller, type Remedy } from './remedy-collection.ts';
import type { ObjectSource, Step } from './remedy-step.ts';
import { smallestEnough } from './smallest-amount.ts';
import { isAboutPods, isHopeless, optionsFor } from './step-generators.ts';
import { type Budget, type Ground, Trial } from './what-if.ts';

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
  readonly waysMax: number;
}

/** Each only where those before it found nothing. Further than the last it is another cluster that is asked for. */
const passes: readonly Pass[] = [
  { stepsMax: 1, nodesMax: 48, waysMax: Number.POSITIVE_INFINITY },
  { stepsMax: 2, nodesMax: 24, waysMax: 3 },
  { stepsMax: 3, nodesMax: 8, waysMax: 2 },
];
const judgementsMax = 20_000;
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
  const ground: Ground = { index, objects, nowMs, rules, budget, records: new WeakMap() };
  const promising = nodes.filter(({ findings }) => findings.length > 0 && !findings.some(isHopeless));
  const closeness = new Closeness(promising);
  const found = new Collection();
  let nodesTried = 0;
  for (const { nodesMax, ...pass } of passes) {
    const close = closeness.nearest(nodesMax);
    for (const { node, findings } of close)
      explore(new Trial(ground, node, pod), findings, { found, pod, pass, steps: [] });
    nodesTried = Math.max(nodesTried, close.length);
    if (found.hasGentle) break;
  }
  tryNewNodes(new Trial(ground, '', pod), found);
  const remedies = found
    .best(options.remediesMax ?? remediesMaxDefault)
    .filter(({ node, steps }) => isProven(new Trial(ground, node, pod), steps));
  return {
    remedies,
    nodesTried,
    nodesPromising: promising.length,
    isCutShort: budget.judgements <= 0 || budget.explanations <= 0,
  };
}

function budgetFor({ volumes }: ClusterIndex): Budget {
  const affordable = Math.floor(volumeVisitsMax / (volumes.size + 1));
  return { judgements: judgementsMax, explanations: Math.min(explanationsMax, Math.max(8, affordable)) };
}

interface Path {
  readonly found: Collection;
  /** As it is now. */
  readonly pod: Pod;
  readonly pass: Omit<Pass, 'nodesMax'>;
  readonly steps: readonly Step[];
}

/** Meets the first finding in every way; whatever is left is met in turn, while few enough steps have been taken. */
function explore(trial: Trial, findings: readonly Finding[], path: Path): void {
  const { steps, pass } = path;
  const first = findings.find((finding) => !isAboutPods(finding)) ?? findings[0];
  if (first === undefined || findings.some(isHopeless)) return;
  if (steps.length + stepsNeeded(findings) > pass.stepsMax) return;
  for (const option of optionsFor(trial, first).slice(0, pass.waysMax)) {
    const taken = [...steps, option];
    const fits = trial.during([option], (after) => {
      if (after.fits()) return true;
      if (taken.length < pass.stepsMax && option.sort !== 'RemovePods')
        goOn(after, findings, { ...path, steps: taken });
      return false;
    });
    if (fits) addSmallest(new Trial(trial.ground, trial.node, path.pod), taken, path.found);
  }
}

/** No fewer: one step may meet several findings of one reason, and removed pods all that are about pods. */
function stepsNeeded(findings: readonly Finding[]): number {
  const reasons = new Set(findings.filter((finding) => !isAboutPods(finding)).map(({ reason }) => reason));
  // Uncordoning a node lifts the taint that goes with it.
  if (reasons.has('MarkedUnschedulable')) reasons.delete('TaintNotTolerated');
  return reasons.size + (findings.some(isAboutPods) ? 1 : 0);
}

/** With what was found before, less what the step was taken for; what stands in the way then is asked for only when that is all met. */
function goOn(trial: Trial, before: readonly Finding[], path: Path): void {
  const met = before.find((finding) => !isAboutPods(finding)) ?? before[0]!;
  const rest = before.filter((finding) => !isSame(finding, met));
  if (rest.length === 0) {
    const findings = trial.findings();
    if (findings !== undefined && !findings.some((finding) => isSame(finding, met)))
      explore(trial, findings, path);
    return;
  }
  const isShared = rest.some(({ reason }) => reason === met.reason);
  if (isShared || !trial.refusesFor(met)) explore(trial, rest, path);
}

function isSame(a: Finding, b: Finding): boolean {
  if (a.reason !== b.reason || a.claim !== b.claim) return false;
  const resource = ({ margin }: Finding) => (margin?.unit === 'resource' ? margin.resource : '');
  return resource(a) === resource(b);
}

/** Most nodes offer what another one offered before, and no smaller; that is found out with less asking than how small it could be. */
function addSmallest(trial: Trial, steps: readonly Step[], found: Collection): void {
  const remedy = { node: trial.node, steps };
  const known = found.knownLike(remedy);
  const fits = (asked: readonly Step[]) => trial.during(asked, (after) => after.fits());
  if (known === undefined || canBeSmaller(remedy, known, fits)) found.add(smallestOf(trial, steps));
}

/** Each step as small as the others let it be. */
function smallestOf(trial: Trial, steps: readonly Step[]): Remedy {
  let current = steps;
  for (const [position, { withAmount, amount }] of steps.entries()) {
    if (withAmount === undefined) continue;
    const withThis = (other: number) =>
      current.map((step, at) => (at === position ? withAmount(other) : step));
    const least = smallestEnough(1, amount, (other) =>
      trial.during(withThis(other), (after) => after.fits()),
    );
    current = withThis(least);
  }
  return { node: trial.node, steps: current };
}

function tryNewNodes(trial: Trial, found: Collection): void {
  const there = onNewNode(trial);
  for (const step of newNodeSteps(trial)) {
    if (!there.during([step], (after) => after.fits())) continue;
    found.add({ node: there.node, steps: [step] });
    return;
  }
}

/** The whole cluster is planned once more; nothing is told that hasn't been seen to work. */
function isProven(trial: Trial, steps: readonly Step[]): boolean {
  const { index, nowMs, rules } = trial.ground;
  return trial.during(steps, ({ pod }) => plan(pod, index, { nowMs, rules }).kind === 'placement');
}
