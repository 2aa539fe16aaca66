import { type Explanation, explain } from './explain/explain.ts';
import { countReasons, type NodeVerdict, refusalMessage } from './explain/message.ts';
import type { Change } from './index/change.ts';
import type { ClusterIndex } from './index/cluster-index.ts';
import { interestOf } from './interest.ts';
import type { PodRecord } from './records/pod-record.ts';
import { type Cycle, isForGood, verdictReasons, verdictRule } from './rules/cycle.ts';
import type { PreparedRules } from './rules/prepare-rules.ts';
import { type NodeReason, nodeReasons, type Reason, type ReasonText } from './rules/reasons.ts';
import type { AnyRule, Interest, PodRefusal } from './rules/rule.ts';

/**
 * No node fits. What is here at once is cheap: a verdict for each node. The message, the counts and the explanation are made
 * when somebody asks.
 */
export class Refusal {
  readonly kind = 'refusal';
  readonly pod: PodRecord;
  /** Why the pod can't run wherever it is put; empty if it is the nodes that don't fit. */
  readonly podRefusals: readonly PodRefusal[];
  readonly nodeCount: number;
  /** What would have to change, for {@link wokenBy}; it outlives the plan. */
  readonly interest: Interest;
  readonly #index: ClusterIndex;
  readonly #nowMs: number;
  readonly #rules: readonly AnyRule[];
  readonly #refusedBy: AnyRule | undefined;
  readonly #verdicts: Int32Array;
  readonly #notes: ReadonlyMap<number, readonly string[]>;

  constructor(cycle: Cycle, rules: readonly AnyRule[], { refusals, refusedBy }: PreparedRules) {
    this.pod = cycle.pod;
    this.podRefusals = refusals;
    this.#refusedBy = refusedBy;
    this.nodeCount = cycle.index.nodes.size;
    this.#index = cycle.index;
    this.#nowMs = cycle.nowMs;
    this.#rules = rules;
    // The column is the next plan's.
    this.#verdicts = cycle.verdicts.slice();
    this.#notes = cycle.notes;
    this.interest = interestOf(cycle.index, cycle.pod, this.#hasReason('AttachLimitReached'));
  }

  /** In kube-scheduler's grammar, e.g. `0/3 nodes are available: 3 node(s) did not have enough free storage.` */
  get message(): string {
    return refusalMessage(this.nodeCount, this.podRefusals, this.#verdictsOfNodes());
  }

  /** How many nodes each reason refused; a node may be counted for several. */
  get reasons(): ReadonlyMap<Reason, number> {
    if (this.podRefusals.length > 0)
      return new Map(this.podRefusals.map(({ reason }) => [reason, this.nodeCount]));
    return countReasons(this.#verdictsOfNodes());
  }

  /** The nodes, by name, on which nothing but other pods may be in the way; empty if the pod can't run wherever it is put. */
  *nodesWithPodsInTheWay(): Iterable<string> {
    for (const [node, verdict] of this.#verdicts.entries()) {
      if (verdict === 0 || isForGood(verdict)) continue;
      const { reasons } = this.#rules[verdictRule(verdict)]!;
      const bits = verdictReasons(verdict);
      const isInTheWay = reasons.every((reason, at) => (bits & (1 << at)) === 0 || mayBePods(reason));
      const name = isInTheWay ? this.#index.nodes.record(node)?.key : undefined;
      if (name !== undefined) yield name;
    }
  }

  /** Could this change make the pod fit? Asks the rules that refused it. */
  wokenBy(change: Change): boolean {
    return this.#refusingRules().some((rule) => rule.wakes(this.interest, change, this.#index));
  }

  /**
   * Every obstacle on every node with the candidates that came close and their margins. Answers for the index as it is when
   * it is called.
   */
  explain(): Explanation {
    return explain(this.pod, this.#index, { nowMs: this.#nowMs, rules: this.#rules });
  }

  /** What the nodes that were there were rejected for. */
  *#verdictsOfNodes(): Iterable<NodeVerdict> {
    for (const [node, verdict] of this.#verdicts.entries()) {
      if (verdict !== 0)
        yield { rule: this.#rules[verdictRule(verdict)]!, verdict, notes: this.#notes.get(node) ?? [] };
    }
  }

  /** Thousands of nodes have a handful of different verdicts. */
  #hasReason(reason: NodeReason): boolean {
    for (const verdict of new Set(this.#verdicts)) {
      if (verdict === 0) continue;
      const position = this.#rules[verdictRule(verdict)]!.reasons.indexOf(reason);
      if (position >= 0 && (verdictReasons(verdict) & (1 << position)) !== 0) return true;
    }
    return false;
  }

  #refusingRules(): readonly AnyRule[] {
    if (this.#refusedBy !== undefined) return [this.#refusedBy];
    if (this.nodeCount === 0) return this.#rules;
    const positions = new Set<number>();
    for (const verdict of this.#verdicts) if (verdict !== 0) positions.add(verdictRule(verdict));
    return [...positions].map((position) => this.#rules[position]!);
  }
}

function mayBePods(reason: NodeReason): boolean {
  const text: ReasonText = nodeReasons[reason];
  return text.podsInTheWay === true;
}
