import type { Pod } from '../../kube/core.ts';
import type { ClusterIndex } from '../index/cluster-index.ts';
import { plan } from '../plan.ts';
import { defaultRules } from '../rules/default-rules.ts';
import type { Finding } from '../rules/finding.ts';
import type { AnyRule } from '../rules/rule.ts';
import type { NodeExplanation } from './explain.ts';
import { byCloseness } from './remedies/closeness.ts';
import { Collection, type Remedy } from './remedies/collection.ts';
import { newNodeSteps, onNewNode } from './remedies/new-node-steps.ts';
import { isAboutPods, isHopeless, optionsFor } from './remedies/options.ts';
import { smallestEnough } from './remedies/smallest.ts';
import type { ObjectSource, Step } from './remedies/step.ts';
import { type Budget, type Ground, Trial } from './remedies/trial.ts';

export interface RemedyOptions {
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[];
  readonly objects: ObjectSource;
  /** How many nodes are looked at closely, those first that miss least. */
  readonly nodesMax?: number;
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

const nodesMaxDefault = 48;
const remediesMaxDefault = 8;
/** Further than this it is another cluster that is asked for. */
const stepsMaxMost = 3;
/** Where several obstacles are to be met, this many ways for each. */
const waysMax = 3;
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
  const { nowMs, rules = defaultRules, objects, nodesMax = nodesMaxDefault } = options;
  const budget = budgetFor(index);
  const ground: Ground = { index, objects, nowMs, rules, budget };
  const promising = nodes.filter(({ findings }) => findings.length > 0 && !findings.some(isHopeless));
  const close = byCloseness(promising, nodesMax);
  const found = new Collection();
  tryNewNodes(new Trial(ground, '', pod), found);
  for (let stepsMax = 1; stepsMax <= stepsMaxMost && !found.hasGentle; stepsMax += 1) {
    for (const { node, findings } of close)
      explore(new Trial(ground, node, pod), findings, { found, pod, stepsMax, steps: [] });
  }
  const remedies = found
    .best(options.remediesMax ?? remediesMaxDefault)
    .filter(({ node, steps }) => isProven(new Trial(ground, node, pod), steps));
  return {
    remedies,
    nodesTried: close.length,
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
  readonly stepsMax: number;
  readonly steps: readonly Step[];
}

/** Meets the first finding in every way; whatever is left is met in turn, while few enough steps have been taken. */
function explore(trial: Trial, findings: readonly Finding[], path: Path): void {
  const { steps, stepsMax } = path;
  const first = findings.find((finding) => !isAboutPods(finding)) ?? findings[0];
  if (first === undefined || findings.some(isHopeless)) return;
  const options = optionsFor(trial, first);
  for (const option of stepsMax === 1 ? options : options.slice(0, waysMax)) {
    const taken = [...steps, option];
    const fits = trial.during([option], (after) => {
      if (after.fits()) return true;
      if (taken.length < stepsMax && option.sort !== 'RemovePods')
        goOn(after, first, { ...path, steps: taken });
      return false;
    });
    if (fits) path.found.add(smallestOf(new Trial(trial.ground, trial.node, path.pod), taken));
  }
}

/** Only where the step did away with what it was taken for. */
function goOn(trial: Trial, met: Finding, path: Path): void {
  const findings = trial.findings();
  if (findings === undefined || findings.some((finding) => isSame(finding, met))) return;
  explore(trial, findings, path);
}

function isSame(a: Finding, b: Finding): boolean {
  if (a.reason !== b.reason || a.claim !== b.claim) return false;
  const resource = ({ margin }: Finding) => (margin?.unit === 'resource' ? margin.resource : '');
  return resource(a) === resource(b);
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
  for (const step of newNodeSteps(trial.ground)) {
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
