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

  decide(pod: Pod, record: PodRecord, nowMs: number): SchedulingDecision {
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
    this.nominate(record, preemption.node);
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

  /** The placement has been reserved. */
  reserved({ pod, node }: Placement): void {
    this.#refusals.onAssumed(pod, node);
  }
}
