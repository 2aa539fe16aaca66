import type { Pod } from '../kube/api/core.ts';
import type { ClusterIndex } from './cluster-index/cluster-index.ts';
import type { NodeRow } from './cluster-index/nodes/node-table.ts';
import { type FilterOptions, filterNodes } from './evaluation/filter-nodes.ts';
import { withFittingSegments } from './evaluation/fitting-segments.ts';
import { type PodRecord, readPod } from './records/pod-record.ts';
import { Refusal } from './refusal/refusal.ts';
import type { Cycle } from './rules/framework/cycle.ts';
import type { Decisions } from './rules/framework/decisions.ts';
import type { ActiveRule } from './rules/framework/prepare-rules.ts';

export interface PlanOptions extends FilterOptions {
  /** Chooses among equally good nodes: equal seeds give equal choices. Without it the plan takes the first by name. */
  readonly tieSeed?: number | undefined;
}

/** The node for the pod, and what has to be written to place it there. */
export interface Placement extends Readonly<Decisions> {
  readonly kind: 'placement';
  readonly pod: PodRecord;
  readonly node: string;
  readonly score: number;
  /** How many nodes fit. */
  readonly feasibleNodes: number;
}

/**
 * Decides where a pod and its volumes go. It reads the live index and changes nothing except what `settle` brings up to date.
 * The answer holds until the index changes; the ledger checks that when the placement is reserved.
 */
export function plan(pod: Pod, index: ClusterIndex, options: PlanOptions): Placement | Refusal {
  const { cycle, rules, prepared } = filterNodes(readPod(pod), index, options);
  const chosen =
    prepared.refusedBy === undefined ? chooseNode(cycle, prepared.active, options.tieSeed) : undefined;
  return chosen === undefined
    ? Refusal.of(cycle, rules, prepared)
    : placementOn(cycle, prepared.active, chosen);
}

/** The placement on one node, without a score; undefined if the pod does not fit there. For callers that fill a node and need no reasons. */
export function placeOnNode(
  pod: Pod,
  index: ClusterIndex,
  node: string,
  options: Omit<FilterOptions, 'onlyNodes'>,
): Placement | undefined {
  const row = index.nodes.row(node);
  if (row === undefined) return undefined;
  const { cycle, prepared } = filterNodes(readPod(pod), index, { ...options, onlyNodes: [node] });
  if (prepared.refusedBy !== undefined || !cycle.isFeasible(row)) return undefined;
  return placementOn(cycle, prepared.active, { node: row, score: 0 });
}

interface ChosenNode {
  readonly node: NodeRow;
  readonly score: number;
}

/** A feasible node with the highest weighted score; among equals the first by name, or the one that the seed selects. */
function chooseNode(cycle: Cycle, active: readonly ActiveRule[], tieSeed = 0): ChosenNode | undefined {
  const totals = totalScores(cycle, active);
  let ties: NodeRow[] = [];
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const node of cycle.index.nodes.rowsByName) {
    if (totals[node]! < bestScore || !cycle.isFeasible(node)) continue;
    if (totals[node]! > bestScore) ties = [];
    ties.push(node);
    bestScore = totals[node]!;
  }
  return ties.length === 0 ? undefined : { node: ties[tieSeed % ties.length]!, score: bestScore };
}

/** Each rule scores into its own column. If only one rule scores, with weight 1, its column is the total. */
export function totalScores(cycle: Cycle, active: readonly ActiveRule[]): Float64Array {
  const totals = cycle.index.scratch.doubles('total scores', cycle.rowCount);
  const scoring = active.filter(({ rule }) => rule.score !== undefined);
  if (scoring.length === 1 && scoring[0]!.rule.score!.weight === 1) {
    scoring[0]!.rule.score!.run(scoring[0]!.state, cycle, totals);
    return totals;
  }
  for (const { rule, state } of scoring) {
    const scores = cycle.index.scratch.doubles('scores', cycle.rowCount);
    rule.score!.run(state, cycle, scores);
    const { weight } = rule.score!;
    for (let node = 0; node < totals.length; node++) totals[node]! += weight * scores[node]!;
  }
  return totals;
}

/** The writes that the pod needs to run on this feasible node. */
export function decisionsAt(cycle: Cycle, active: readonly ActiveRule[], node: NodeRow): Decisions {
  const decisions: Decisions = { bindings: [], provisions: [], inlineVolumes: [] };
  for (const { rule, state } of active) rule.decide?.(state, cycle, node, decisions);
  return decisions;
}

function placementOn(cycle: Cycle, active: readonly ActiveRule[], { node, score }: ChosenNode): Placement {
  return {
    kind: 'placement',
    pod: cycle.pod,
    node: cycle.index.nodes.record(node)!.key,
    score,
    feasibleNodes: cycle.feasibleCount,
    ...withFittingSegments(decisionsAt(cycle, active, node), cycle, node),
  };
}
