import type { Pod } from '../kube/api/core.ts';
import type { ClusterIndex } from './cluster-index/cluster-index.ts';
import { type FilteredNodes, type FilterOptions, filterNodes, verdictOn } from './evaluation/filter-nodes.ts';
import { countReasons, countTexts } from './evaluation/refusal-message.ts';
import { decisionsAt, type Placement, totalScores } from './plan.ts';
import { type PodRecord, readPod } from './records/pod-record.ts';
import type { Decisions } from './rules/framework/decisions.ts';
import type { PodRefusal } from './rules/framework/rule.ts';
import { mayPreemptionHelp } from './rules/framework/verdict.ts';
import type { Reason } from './rules/reasons.ts';

/** Whether one node fits a pod. */
export type NodeAssessment =
  /** `score`: 0 to 100, the weighted mean of the rules that score nodes. */
  | { readonly kind: 'fits'; readonly node: string; readonly score: number }
  | NodeRefusal
  /** The index has no node with that name. */
  | { readonly kind: 'unknown'; readonly node: string };

export interface NodeRefusal {
  readonly kind: 'refused';
  readonly node: string;
  readonly reasons: readonly Reason[];
  /** kube-scheduler's texts. */
  readonly texts: readonly string[];
  /** Evicting pods from the node would not help; kube-scheduler's status UnschedulableAndUnresolvable. */
  readonly isUnresolvable: boolean;
}

export interface AssessOptions extends Omit<FilterOptions, 'onlyNodes'> {
  /** Keyed by name. */
  readonly nodes: readonly string[];
}

/**
 * The answer of each named node, in the given order, for callers that choose the node themselves. `placementOn` works until the index
 * changes or another pod is evaluated.
 */
export class Assessment {
  readonly pod: PodRecord;
  readonly answers: readonly NodeAssessment[];
  readonly #judged: FilteredNodes;
  readonly #byNode: ReadonlyMap<string, NodeAssessment>;

  constructor(judged: FilteredNodes, nodes: readonly string[]) {
    const { cycle, prepared } = judged;
    this.pod = cycle.pod;
    this.#judged = judged;
    const [refusal] = prepared.refusals;
    const scores = refusal === undefined ? meanScores(judged) : undefined;
    this.answers = nodes.map((node) => this.#answerOf(node, refusal, scores));
    this.#byNode = new Map(this.answers.map((answer) => [answer.node, answer]));
  }

  /** The placement of the pod on a node that fits; undefined for any other node. */
  placementOn(nodeName: string): Placement | undefined {
    const { cycle, prepared } = this.#judged;
    const row = cycle.index.nodes.row(nodeName);
    const answer = this.#byNode.get(nodeName);
    if (row === undefined || answer?.kind !== 'fits') return undefined;
    const decisions: Readonly<Decisions> = decisionsAt(cycle, prepared.active, row);
    const { pod, feasibleCount: feasibleNodes } = cycle;
    return { kind: 'placement', pod, node: nodeName, score: answer.score, feasibleNodes, ...decisions };
  }

  #answerOf(node: string, refusal: PodRefusal | undefined, scores: Float64Array | undefined): NodeAssessment {
    const { cycle } = this.#judged;
    const row = cycle.index.nodes.row(node);
    if (row === undefined) return { kind: 'unknown', node };
    if (refusal !== undefined) {
      const { reason, message } = refusal;
      return { kind: 'refused', node, reasons: [reason], texts: [message], isUnresolvable: true };
    }
    return cycle.isFeasible(row) ? { kind: 'fits', node, score: scores![row]! } : this.#refused(node, row);
  }

  #refused(node: string, row: number): NodeRefusal {
    const said = verdictOn(this.#judged, row);
    return {
      kind: 'refused',
      node,
      reasons: [...countReasons([said]).keys()],
      texts: [...countTexts([said]).keys()],
      isUnresolvable: !mayPreemptionHelp(said.verdict, said.rule.reasons),
    };
  }
}

export function assess(pod: Pod, index: ClusterIndex, { nodes, ...options }: AssessOptions): Assessment {
  return new Assessment(filterNodes(readPod(pod), index, { ...options, onlyNodes: nodes }), nodes);
}

/** Divides by the sum of the weights: each rule scores from 0 to 100, times its weight. */
function meanScores({ cycle, prepared }: FilteredNodes): Float64Array {
  const totals = totalScores(cycle, prepared.active);
  let weights = 0;
  for (const { rule } of prepared.active) weights += rule.score?.weight ?? 0;
  if (weights > 1) for (let row = 0; row < totals.length; row++) totals[row]! /= weights;
  return totals;
}
