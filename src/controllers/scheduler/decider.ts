import type { ClusterChange } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Placement } from '../../engine/plan.ts';
import type { DisruptionBudget } from '../../engine/preemption/disruption-budget.ts';
import { findVictims, type Preemption } from '../../engine/preemption/find-victims.ts';
import { planWithNominated } from '../../engine/preemption/plan-with-nominated.ts';
import { tieBreakSeed } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { RefusalCache } from '../../engine/refusal/refusal-cache.ts';
import type { AnyRule } from '../../engine/rules/framework/rule.ts';
import { nodesVacated } from '../../engine/rules/wake-conditions/pod-moves.ts';
import type { Pod } from '../../kube/api/core.ts';
import { Nominations } from './nominations.ts';

export type SchedulingDecision = Placement | RefusedDecision;

export interface RefusedDecision {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** Which pods to evict, or why eviction would not help. */
  readonly preemption: Preemption;
}

/**
 * Decides where a pod goes; or why no node fits, and which pods to evict. Synchronous, on the live index: nothing changes between the
 * decision and the reservation.
 */
export class Decider {
  readonly #index: ClusterIndex;
  readonly #rules: readonly AnyRule[];
  readonly #budgets: () => readonly DisruptionBudget[];
  readonly #nominations = new Nominations();
  readonly #refusals: RefusalCache<Preemption>;

  constructor(index: ClusterIndex, rules: readonly AnyRule[], budgets: () => readonly DisruptionBudget[]) {
    this.#index = index;
    this.#rules = rules;
    this.#budgets = budgets;
    this.#refusals = new RefusalCache(index);
  }

  decide(stored: Pod, storedRecord: PodRecord, nowMs: number): SchedulingDecision {
    const { pod, record } = this.#asNominated(stored, storedRecord);
    const known = this.#refusals.get(record);
    if (known !== undefined) return { kind: 'refused', refusal: known.refusal, preemption: known.extra };
    const shared = { nowMs, rules: this.#rules, nominated: this.#nominations.all };
    const seed = tieBreakSeed(record);
    const answer = planWithNominated(pod, this.#index, { ...shared, tieSeed: seed });
    if (answer.kind === 'placement') return answer;
    const preemption = findVictims(pod, answer, this.#index, { ...shared, budgets: this.#budgets(), seed });
    if (preemption.kind === 'none') {
      const refusal = answer.waitingForPreemption(preemption);
      this.#refusals.set(refusal, preemption);
      return { kind: 'refused', refusal, preemption };
    }
    // Before the nomination is written: the next pod must not count on the same victims.
    this.nominate(storedRecord, preemption.node);
    return {
      kind: 'refused',
      refusal: answer.waitingForPreemption({ vacatingNode: preemption.node }),
      preemption,
    };
  }

  /** Nominates the pod to the node, in memory: until another nomination is written, or `unnominate`. */
  nominate(pod: PodRecord, nodeName: string): void {
    this.#nominations.nominate(pod, nodeName);
  }

  /**
   * The pod is no longer nominated, in memory: until that is written, or `unnominate`. Returns the change as the write will cause it, for pods that wait for what
   * the pod has held; undefined if it was not nominated. The decider itself must not observe it: the written nomination is still the other one.
   */
  loseNomination(pod: PodRecord): ClusterChange | undefined {
    const nominatedNode = this.#nominations.nodeOf(pod.key);
    if (nominatedNode === '') return undefined;
    this.#nominations.unnominate(pod);
    const [before, after] = [
      { ...pod, nominatedNode },
      { ...pod, nominatedNode: '' },
    ];
    const change: ClusterChange = { kind: 'Pod', before, after, freedPools: [] };
    this.#refusals.onChange(change);
    return change;
  }

  /** Goes back to the nomination that is written to the pod. Returns the node that the pod is no longer nominated to, if any. */
  unnominate(podKey: string): string | undefined {
    return this.#nominations.forgetUnwritten(podKey, this.#index.pods.stored(podKey));
  }

  /** For a change that may affect any refusal. */
  forgetRefusals(): void {
    this.#refusals.clear();
  }

  /** The pods that have a nominated node. */
  get nominated(): readonly PodRecord[] {
    return this.#nominations.all;
  }

  /**
   * Returns the node that a pod is no longer nominated to, if the change itself does not show that: the nomination existed only in
   * memory, or the pod is being deleted and still names the node.
   */
  observe(change: ClusterChange): string | undefined {
    this.#refusals.onChange(change);
    if (change.kind !== 'Pod') return undefined;
    const { before, after } = change;
    const vacated = this.#nominations.observe((after ?? before)!.key, after);
    return vacated !== undefined && nodesVacated(before, after).includes(vacated) ? undefined : vacated;
  }

  /** The pod with the nomination that counts, which may differ from the one that is written. */
  #asNominated(pod: Pod, record: PodRecord): { readonly pod: Pod; readonly record: PodRecord } {
    const nominatedNode = this.#nominations.nodeOf(record.key);
    if (nominatedNode === record.nominatedNode) return { pod, record };
    const status = { ...pod.status, nominatedNodeName: nominatedNode };
    return { pod: { ...pod, status }, record: { ...record, nominatedNode } };
  }

  /** The placement has been reserved. */
  reserved({ pod, node }: Placement): void {
    this.#refusals.onAssumed(pod, node);
  }
}
