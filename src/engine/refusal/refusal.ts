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
  /** The verdicts, counted. Thousands of pods may share this. */
  readonly counted: Lazy<readonly NodeVerdict[]>;
  readonly waker?: Waker;
}

/**
 * No node fits. A refusal stores only a verdict for each node; the message, the counts and the explanation are computed on demand.
 */
export class Refusal {
  readonly kind = 'refusal';
  readonly pod: PodRecord;
  /** Why the pod can't run on any node; empty if the nodes are what does not fit. */
  readonly podRefusals: readonly PodRefusal[];
  readonly nodeCount: number;
  /** Which changes could make the pod fit. Much smaller than the refusal, it can be kept longer. */
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
    // The next plan reuses the column.
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

  /** The same answer for another pod with the same spec; claims of its own are taken into account. */
  forPod(pod: PodRecord): Refusal {
    if (pod.claims.length === 0)
      return new Refusal({ ...this.#parts, pod, waker: this.#wakerSharedByEqualPods() });
    const { lacksSlots, refusedAtMs } = this.waker.interest;
    const interest = { ...interestOf(this.#parts.index, pod, lacksSlots), refusedAtMs };
    return new Refusal({ ...this.#parts, pod, waker: this.waker.forInterest(interest) });
  }

  /** The same answer for a pod that also waits for its preemption victims, or for the rules that block preemption. */
  waitingForPreemption(wait: PreemptionWait): Refusal {
    if (wait.vacatingNode === undefined && (wait.blockingRules ?? []).length === 0) return this;
    return new Refusal({ ...this.#parts, waker: this.waker.withPreemption(wait, this.#parts.nowMs) });
  }

  /**
   * Pods without claims that ask for the same wait for the same changes, so thousands of them share one waker and cost an event as much
   * as one pod. The shared waker has no pod key: a change of one of these pods must wake the others.
   */
  #wakerSharedByEqualPods(): Waker {
    const { interest } = this.waker;
    this.#sharedWaker ??= this.waker.forInterest({
      ...interest,
      pod: { ...interest.pod, key: '', uid: '' },
    });
    return this.#sharedWaker;
  }

  #newWaker(): Waker {
    const { index, pod, nowMs } = this.#parts;
    const lacksSlots = this.#hasReason('AttachLimitReached');
    const interest = { ...interestOf(index, pod, lacksSlots), refusedAtMs: nowMs };
    return new Waker(index, this.#refusingRules(), { interest, nowMs });
  }

  /** The message in kube-scheduler's grammar, e.g. `0/3 nodes are available: 3 node(s) did not have enough free storage.` */
  get message(): string {
    return refusalMessage(this.nodeCount, this.podRefusals, this.#parts.counted());
  }

  /** How many nodes each reason refused. A node may be counted for several reasons. */
  get reasons(): ReadonlyMap<Reason, number> {
    if (this.podRefusals.length > 0)
      return new Map(this.podRefusals.map(({ reason }) => [reason, this.nodeCount]));
    return countReasons(this.#parts.counted());
  }

  /** The names of nodes on which evicting pods may help; empty if the pod can't run on any node. */
  *nodesWherePreemptionMayHelp(): Iterable<string> {
    for (const [node, verdict] of this.#parts.verdicts.entries()) {
      if (verdict === 0 || !mayPreemptionHelp(verdict, this.#ruleOf(verdict).reasons)) continue;
      const name = this.#parts.index.nodes.record(node)?.key;
      if (name !== undefined) yield name;
    }
  }

  /** Whether this change could make the pod fit. */
  wokenBy(change: ClusterChange): boolean {
    return this.waker.wokenBy(change);
  }

  /** Whether the profile adds the closest candidate to the message. */
  get namesClosest(): boolean {
    return this.#parts.index.profile.namesClosestCandidate;
  }

  /** The names of the nodes that the rule refused. A node counts for the first rule that refused it. */
  *nodesRefusedBy(ruleName: string): Iterable<string> {
    if (!this.#parts.counted().some(({ rule }) => rule.name === ruleName)) return;
    const position = this.#parts.rules.findIndex(({ name }) => name === ruleName);
    for (const [node, verdict] of this.#parts.verdicts.entries()) {
      const isRefused = verdict !== 0 && rulePositionOf(verdict) === position;
      const name = isRefused ? this.#parts.index.nodes.record(node)?.key : undefined;
      if (name !== undefined) yield name;
    }
  }

  /**
   * Every obstacle on every node, or on the named nodes, with the candidates that came close and their margins. It explains the index as
   * it is at the time of the call.
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

/** Counts equal verdicts: thousands of nodes have a handful of different ones. */
function countVerdicts(
  verdicts: Int32Array,
  notes: RefusalParts['notes'],
  rules: readonly AnyRule[],
): readonly NodeVerdict[] {
  const counts = new Map<number, number>();
  const withNotes: NodeVerdict[] = [];
  for (let node = 0; node < verdicts.length; node += 1) {
    const verdict = verdicts[node]!;
    if (verdict === 0) continue;
    const noted = notes.size === 0 ? undefined : notes.get(node);
    if (noted === undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    else withNotes.push({ rule: rules[rulePositionOf(verdict)]!, verdict, nodeCount: 1, notes: noted });
  }
  const alike = [...counts].map(([verdict, nodeCount]) => {
    return { rule: rules[rulePositionOf(verdict)]!, verdict, nodeCount, notes: [] };
  });
  return [...alike, ...withNotes];
}

type Lazy<T> = () => T;

function lazy<T>(make: () => T): Lazy<T> {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
