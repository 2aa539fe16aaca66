import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { explainNodes, type RefusalExplanation } from '../evaluation/explain-nodes.ts';
import type { NodeVerdict } from '../evaluation/filter-nodes.ts';
import { countReasons, refusalMessage } from '../evaluation/refusal-message.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Cycle } from '../rules/framework/cycle.ts';
import type { PreparedRules } from '../rules/framework/prepare-rules.ts';
import type { AnyRule, PodRefusal } from '../rules/framework/rule.ts';
import { hasReason, mayPreemptionHelp, rulePositionOf } from '../rules/framework/verdict.ts';
import type { NodeReason, Reason } from '../rules/reasons.ts';
import { interestOf } from '../waking/interest.ts';
import { type PreemptionWait, Waker } from '../waking/waker.ts';

interface RefusalParts {
  readonly pod: PodRecord;
  readonly podRefusals: readonly PodRefusal[];
  readonly refusedBy: AnyRule | undefined;
  readonly nodeCount: number;
  readonly index: ClusterIndex;
  readonly nowMs: number;
  readonly rules: readonly AnyRule[];
  readonly verdicts: Int32Array;
  readonly notes: ReadonlyMap<number, readonly string[]>;
  /** The same counted; thousands of pods may share it. */
  readonly counted: Lazy<readonly NodeVerdict[]>;
  readonly waker?: Waker;
}

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
  /** What would have to change. It outlives the refusal, and is much smaller. */
  readonly waker: Waker;
  readonly #parts: RefusalParts;
  #sharedWaker: Waker | undefined;

  constructor(parts: RefusalParts) {
    this.#parts = parts;
    this.pod = parts.pod;
    this.podRefusals = parts.podRefusals;
    this.nodeCount = parts.nodeCount;
    this.waker = parts.waker ?? this.#newWaker();
  }

  static of(cycle: Cycle, rules: readonly AnyRule[], { refusals, refusedBy }: PreparedRules): Refusal {
    // The column is the next plan's.
    const verdicts = cycle.verdicts.slice();
    const { notes } = cycle;
    return new Refusal({
      pod: cycle.pod,
      podRefusals: refusals,
      refusedBy,
      nodeCount: cycle.index.nodes.size,
      index: cycle.index,
      nowMs: cycle.nowMs,
      rules,
      verdicts,
      notes,
      counted: lazy(() => countVerdicts(verdicts, notes, rules)),
    });
  }

  /** The same answer for another pod that asks for the same, with wishes of its own. */
  forPod(pod: PodRecord): Refusal {
    if (pod.claims.length === 0) return new Refusal({ ...this.#parts, pod, waker: this.#wakerForAll() });
    const interest = interestOf(this.#parts.index, pod, this.waker.interest.lacksSlots);
    return new Refusal({ ...this.#parts, pod, waker: this.waker.forInterest(interest) });
  }

  /** The same answer; but the pod also waits for others to make room for it, and for what keeps them from it. */
  waitingForPreemption(room: PreemptionWait): Refusal {
    if (room.vacatingNode === undefined && (room.blockingRules ?? []).length === 0) return this;
    return new Refusal({ ...this.#parts, waker: this.waker.withPreemption(room, this.#parts.nowMs) });
  }

  /**
   * Without claims, pods that ask for the same wait for the same: by thousands they cost an event as much as one. It is nobody's in
   * particular, since to each of them what happens to another is news.
   */
  #wakerForAll(): Waker {
    const { interest } = this.waker;
    this.#sharedWaker ??= this.waker.forInterest({
      ...interest,
      pod: { ...interest.pod, key: '', uid: '' },
    });
    return this.#sharedWaker;
  }

  #newWaker(): Waker {
    const { index, pod, nowMs } = this.#parts;
    const interest = interestOf(index, pod, this.#hasReason('AttachLimitReached'));
    return new Waker(index, this.#refusingRules(), { interest, nowMs });
  }

  /** In kube-scheduler's grammar, e.g. `0/3 nodes are available: 3 node(s) did not have enough free storage.` */
  get message(): string {
    return refusalMessage(this.nodeCount, this.podRefusals, this.#parts.counted());
  }

  /** How many nodes each reason refused; a node may be counted for several. */
  get reasons(): ReadonlyMap<Reason, number> {
    if (this.podRefusals.length > 0)
      return new Map(this.podRefusals.map(({ reason }) => [reason, this.nodeCount]));
    return countReasons(this.#parts.counted());
  }

  /** The nodes, by name, on which nothing but other pods may be in the way; empty if the pod can't run wherever it is put. */
  *nodesWherePreemptionMayHelp(): Iterable<string> {
    for (const [node, verdict] of this.#parts.verdicts.entries()) {
      if (verdict === 0 || !mayPreemptionHelp(verdict, this.#ruleOf(verdict).reasons)) continue;
      const name = this.#parts.index.nodes.record(node)?.key;
      if (name !== undefined) yield name;
    }
  }

  /** Could this change make the pod fit? */
  wokenBy(change: ClusterChange): boolean {
    return this.waker.wokenBy(change);
  }

  /** Whether its owner wants to hear what came closest. */
  get namesClosest(): boolean {
    return this.#parts.index.profile.namesClosestCandidate;
  }

  /** The nodes, by name, that the rule refused: each counts for the first rule that did. */
  *nodesRefusedBy(ruleName: string): Iterable<string> {
    if (!this.#parts.counted().some(({ rule }) => rule.name === ruleName)) return;
    const position = this.#parts.rules.findIndex(({ name }) => name === ruleName);
    for (const [node, verdict] of this.#parts.verdicts.entries()) {
      const isHis = verdict !== 0 && rulePositionOf(verdict) === position;
      const name = isHis ? this.#parts.index.nodes.record(node)?.key : undefined;
      if (name !== undefined) yield name;
    }
  }

  /**
   * Every obstacle on every node, or on those that are named, with the candidates that came close and their margins. Answers for the
   * index as it is when it is called.
   */
  explain(onlyNodes?: Iterable<string>): RefusalExplanation {
    const { index, nowMs, rules } = this.#parts;
    return explainNodes(this.pod, index, { nowMs, rules, onlyNodes });
  }

  /** Thousands of nodes have a handful of different verdicts. */
  #hasReason(reason: NodeReason): boolean {
    const different = [...new Set(this.#parts.verdicts)].filter((verdict) => verdict !== 0);
    return different.some((verdict) => hasReason(verdict, this.#ruleOf(verdict).reasons, reason));
  }

  #ruleOf(verdict: number): AnyRule {
    return this.#parts.rules[rulePositionOf(verdict)]!;
  }

  #refusingRules(): readonly AnyRule[] {
    if (this.#parts.refusedBy !== undefined) return [this.#parts.refusedBy];
    if (this.nodeCount === 0) return this.#parts.rules;
    const positions = new Set<number>();
    for (const verdict of this.#parts.verdicts) if (verdict !== 0) positions.add(rulePositionOf(verdict));
    return [...positions].map((position) => this.#parts.rules[position]!);
  }
}

/** What the nodes that were there were rejected for: thousands of them have a handful of different verdicts. */
function countVerdicts(
  verdicts: Int32Array,
  notes: RefusalParts['notes'],
  rules: readonly AnyRule[],
): readonly NodeVerdict[] {
  const counts = new Map<number, number>();
  const apart: NodeVerdict[] = [];
  for (let node = 0; node < verdicts.length; node += 1) {
    const verdict = verdicts[node]!;
    if (verdict === 0) continue;
    const noted = notes.size === 0 ? undefined : notes.get(node);
    if (noted === undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    else apart.push({ rule: rules[rulePositionOf(verdict)]!, verdict, nodeCount: 1, notes: noted });
  }
  const alike = [...counts].map(([verdict, nodeCount]) => {
    return { rule: rules[rulePositionOf(verdict)]!, verdict, nodeCount, notes: [] };
  });
  return [...alike, ...apart];
}

type Lazy<T> = () => T;

function lazy<T>(make: () => T): Lazy<T> {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
